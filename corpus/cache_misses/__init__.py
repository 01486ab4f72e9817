"""Programs that are compiled twice with one thing changed: does depyf name that as the cause of the cache miss?"""
