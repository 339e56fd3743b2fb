"""What are sets of items, and how far apart are they?"""
