"""How are sets of items anonymized?"""
