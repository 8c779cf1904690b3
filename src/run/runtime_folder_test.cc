#include "run/runtime_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace lowtide {
namespace {

TEST(RuntimeFolder, OnlyThoseOfProcessesThatAreGoneAreRemoved) {
  char pattern[] = "/tmp/lowtide-folder-XXXXXX";
  const std::filesystem::path parent = ::mkdtemp(pattern);
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  ::waitpid(gone, nullptr, 0);
  const auto mine = RuntimeFolder(parent, ::getuid(), ::getpid());
  const auto abandoned = RuntimeFolder(parent, ::getuid(), gone);
  const auto foreign = RuntimeFolder(parent, ::getuid() + 1, gone);
  const auto odd = parent / (abandoned.filename().string() + "x");
  for (const auto& folder : {mine, abandoned, foreign, odd}) {
    std::filesystem::create_directory(folder);
    std::ofstream(folder / "marks.sock") << "";
  }
  RemoveAbandonedFolders(parent, ::getuid());
  EXPECT_TRUE(std::filesystem::exists(mine));
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_TRUE(std::filesystem::exists(foreign));
  EXPECT_TRUE(std::filesystem::exists(odd));

  // Something else in it: not ours to throw away.
  std::filesystem::create_directory(abandoned);
  std::ofstream(abandoned / "notes.txt") << "x";
  RemoveAbandonedFolders(parent, ::getuid());
  EXPECT_TRUE(std::filesystem::exists(abandoned / "notes.txt"));
  RemoveAbandonedFolders(parent / "none", ::getuid());
  std::filesystem::remove_all(parent);
}

}  // namespace
}  // namespace lowtide
