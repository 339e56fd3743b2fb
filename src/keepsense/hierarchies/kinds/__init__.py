"""How do values of each kind generalize?"""
