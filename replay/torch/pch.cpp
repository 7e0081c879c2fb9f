// Compiled for its precompiled header alone, which the targets around LibTorch share.
