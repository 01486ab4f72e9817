"""The trace files of a job: find them, group equal ranks, write a dump for each group, and compare the groups."""
