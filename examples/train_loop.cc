// A training loop in C++ that marks its progress for Lowtide:
//
//   c++ -std=c++17 -O2 -Iinclude examples/train_loop.cc -o train_loop -pthread
//   lowtide run -- ./train_loop [EPOCHS]
//
// Logistic regression, by mini-batch gradient descent, on points inside and outside a circle. It
// also runs without Lowtide.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "lowtide/marks.h"

namespace {

constexpr std::size_t kFeatures = 6;  // 1, x, y, x^2, xy, y^2
constexpr std::size_t kBatchSize = 32;
constexpr std::size_t kSteps = 64;  // in an epoch
constexpr std::size_t kPoints = kSteps * kBatchSize;
constexpr double kLearningRate = 0.5;

struct Point {
  std::array<double, kFeatures> features;
  double inside;  // 1 or 0
};

std::vector<Point> MakePoints(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> coordinate(-1, 1);
  std::vector<Point> points;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double x = coordinate(random);
    const double y = coordinate(random);
    points.push_back({{1, x, y, x * x, x * y, y * y}, x * x + y * y < 0.5 ? 1.0 : 0.0});
  }
  return points;
}

double Predict(const std::array<double, kFeatures>& weights, const Point& point) {
  double sum = 0;
  for (std::size_t k = 0; k < kFeatures; ++k) sum += weights[k] * point.features[k];
  return 1 / (1 + std::exp(-sum));
}

// One step of gradient descent on points [from, from + kBatchSize); returns their mean loss.
double Train(std::array<double, kFeatures>& weights, const std::vector<Point>& points,
             std::size_t from) {
  std::array<double, kFeatures> gradient{};
  double loss = 0;
  for (std::size_t i = from; i < from + kBatchSize; ++i) {
    const double p = Predict(weights, points[i]);
    loss -= std::log(points[i].inside > 0 ? p : 1 - p);
    for (std::size_t k = 0; k < kFeatures; ++k) {
      gradient[k] += (p - points[i].inside) * points[i].features[k];
    }
  }
  for (std::size_t k = 0; k < kFeatures; ++k) {
    weights[k] -= kLearningRate * gradient[k] / static_cast<double>(kBatchSize);
  }
  return loss / static_cast<double>(kBatchSize);
}

double Accuracy(const std::array<double, kFeatures>& weights, const std::vector<Point>& points) {
  double right = 0;
  for (const auto& point : points) right += (Predict(weights, point) > 0.5) == (point.inside > 0);
  return right / static_cast<double>(points.size());
}

}  // namespace

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::atoi(argv[1]) : 12;
  const auto training = MakePoints(1);
  const auto validation = MakePoints(2);
  std::array<double, kFeatures> weights{};

  auto& marks = lowtide::marks::Client::Process();
  marks.BatchSize(kBatchSize);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const lowtide::marks::Epoch turn(marks, epoch, epochs);
    double loss = 0;
    for (std::size_t from = 0; from < kPoints; from += kBatchSize) {
      loss += Train(weights, training, from);
      marks.Step();
    }
    loss /= static_cast<double>(kSteps);
    const double accuracy = Accuracy(weights, validation);
    marks.Log({{"loss", loss}, {"accuracy", accuracy}});
    std::printf("epoch %d: loss %.4f, accuracy %.4f\n", epoch, loss, accuracy);
  }
  return 0;
}
