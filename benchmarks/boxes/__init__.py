"""Noisy functions on boxes: ``maximize`` with its defaults beside other tools.

    python -m benchmarks boxes --functions classic --instances 1,3,5 --methods ours,random,tpe
    python -m benchmarks boxes --table

Results are appended to a file of JSON lines, and what is there already is not run again: slices
add up. See ``functions`` for the functions, ``methods`` for the tools, ``table`` for the scores,
and ``tuning`` (a section of its own) for real problems with parameters of several types.
"""
