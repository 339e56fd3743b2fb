"""How are hierarchies written down?"""
