"""The fuzzer of the Python side: numbered cases, mutated from what is valid, in processes with limits."""
