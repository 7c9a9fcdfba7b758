"""Known privacy bugs, planted one at a time: does a test or an attack catch each?"""
