// A library with NVML's name that lacks most of it.
extern "C" __attribute__((visibility("default"))) int nvmlInit_v2() { return 0; }
extern "C" __attribute__((visibility("default"))) int nvmlShutdown() { return 0; }
