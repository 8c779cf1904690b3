#include "device/rapl/rapl_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "device/rapl/rapl_zone.h"

namespace lowtide {
namespace {

class SysfsReader final : public RaplReader {
 public:
  explicit SysfsReader(std::filesystem::path path) : path_(std::move(path)) {}

  Status Open() {
    fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_.Valid()) return FailErrno(errno, "cannot read " + path_.string());
    return {};
  }

  Result<std::uint64_t> Read() override {
    if (!fd_.Valid()) {
      LOWTIDE_TRY_STATUS(Open());
    }
    std::array<char, 64> buffer{};
    ssize_t n = 0;
    do {
      n = ::pread(fd_.Get(), buffer.data(), buffer.size(), 0);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
      const int error_number = errno;
      if (error_number != EIO && error_number != EAGAIN) fd_.Reset();
      return FailErrno(error_number, "cannot read " + path_.string());
    }
    const std::string_view text(buffer.data(), static_cast<std::size_t>(n));
    const auto value = ParseMicrojoules(text);
    if (!value) {
      return Fail(
          Code::kUnavailable,
          fmt::format("{} holds '{}', which is no number of microjoules", path_.string(), text));
    }
    return *value;
  }

 private:
  std::filesystem::path path_;
  UniqueFd fd_;
};

}  // namespace

Result<std::unique_ptr<RaplReader>> OpenSysfsRapl(const std::filesystem::path& energy_uj) {
  auto reader = std::make_unique<SysfsReader>(energy_uj);
  LOWTIDE_TRY_STATUS(reader->Open());
  return reader;
}

}  // namespace lowtide
