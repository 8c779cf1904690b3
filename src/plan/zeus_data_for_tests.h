// The published Zeus measurements under data/zeus, for tests (run from the repository root).
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "plan/power_curve_reader.h"

namespace lowtide {

// "profiles/A40+resnet50+gpu0.csv" or "summary_power_a40.csv" with a selector.
inline PowerCurve ZeusCurve(const std::string& file, std::string_view selector = {}) {
  const std::string path = "data/zeus/" + file;
  const auto text = ReadFile(path);
  if (!text) {
    ADD_FAILURE() << text.error().message;
    return {};
  }
  auto curve = ReadPowerCurve(*text, path, selector);
  if (!curve) {
    ADD_FAILURE() << curve.error().message;
    return {};
  }
  return *std::move(curve);
}

// ResNet-50 on ImageNet on one A40, the job of the Chase paper.
inline PowerCurve A40Resnet50(int batch_size) {
  return ZeusCurve("summary_power_a40.csv",
                   "imagenet/resnet50/" + std::to_string(batch_size) + "/adadelta");
}

}  // namespace lowtide
