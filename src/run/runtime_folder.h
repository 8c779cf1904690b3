// Folders for the sockets of runs: one for each, named after the user and the process.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace lowtide {

// `parent`/lowtide-UID-PID.
std::filesystem::path RuntimeFolder(const std::filesystem::path& parent, uid_t user, pid_t process);

// Removes those of processes that are gone: a killed run leaves its own behind. Only folders of
// `user` that hold nothing but a socket; what cannot be removed is left.
void RemoveAbandonedFolders(const std::filesystem::path& parent, uid_t user);

}  // namespace lowtide
