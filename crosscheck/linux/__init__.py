"""The cross-check with the Linux kernel: the same path in the kernel, in virtual time, and in our engine."""
