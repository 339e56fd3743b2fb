"""How are tables written down?"""
