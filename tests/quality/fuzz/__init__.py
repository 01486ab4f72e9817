"""Random programs in bytecode that no compiler writes, run beside what the decompiler makes of them."""
