"""How does a method work, step by step?"""
