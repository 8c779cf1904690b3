#include "forecast/ridge.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace lowtide {
namespace {

using Eigen::Index;

constexpr double kLambda = 30;
constexpr double kHalfLifeDays = 365;
constexpr double kLeastDeviation = 1e-9;
// ln 5000: no grid is dirtier (grid/intensity.h).
constexpr double kHighestLog = 8.517193191416238;

Index ToIndex(std::size_t n) { return static_cast<Index>(n); }

double Unlog(double y) { return std::exp(std::clamp(y, 0.0, kHighestLog)); }

void Tell(const PhaseListener& phase, Phase what) {
  if (phase) phase(what);
}

}  // namespace

ForecastTable RidgeForecasts(const FeatureTable& table, std::size_t train_until,
                             std::span<const std::size_t> issues, std::size_t horizon,
                             const PhaseListener& phase) {
  ForecastTable out(issues.size(), horizon);
  if (issues.empty()) return out;
  std::vector<std::size_t> training;
  for (std::size_t i = kFirstIssue + (issues[0] - kFirstIssue) % 24; i + horizon < train_until;
       i += 24) {
    training.push_back(i);
  }
  const Index width = ToIndex(table.Width());
  std::vector<double> row(table.Width());
  const Eigen::Map<const Eigen::VectorXd> features(row.data(), width);
  Eigen::MatrixXd z(width, ToIndex(training.size()));
  Eigen::VectorXd y(z.cols());
  Eigen::VectorXd w(z.cols());
  Eigen::MatrixXd gram(width, width);
  for (std::size_t lead = 0; lead < horizon; ++lead) {
    Tell(phase, Phase::kLearn);
    Index n = 0;
    for (const std::size_t issue : training) {
      if (!table.IsKnown(issue + lead)) continue;
      table.Fill(issue, lead, row);
      z.col(n) = features;
      y(n) = table.Log(issue + lead);
      w(n) = std::exp2(-static_cast<double>(train_until - issue) / 24 / kHalfLifeDays);
      ++n;
    }
    if (n == 0) {
      for (std::size_t k = 0; k < issues.size(); ++k) {
        out.At(k, lead) = Unlog(table.Log(issues[k] - 1));
      }
      continue;
    }
    auto used = z.leftCols(n);
    const Eigen::VectorXd mean = used.rowwise().mean();
    used.colwise() -= mean;
    const Eigen::VectorXd scale =
        ((used.rowwise().squaredNorm() / static_cast<double>(n)).cwiseSqrt().array() +
         kLeastDeviation)
            .inverse();
    const auto weights = w.head(n).array();
    const double centre = (weights * y.head(n).array()).sum() / weights.sum();
    used = scale.asDiagonal() * used * weights.sqrt().matrix().asDiagonal();
    gram.setZero();
    gram.selfadjointView<Eigen::Lower>().rankUpdate(used);
    gram.diagonal().array() += kLambda;
    const Eigen::VectorXd target = weights.sqrt() * (y.head(n).array() - centre);
    const Eigen::VectorXd b =
        scale.asDiagonal() * gram.selfadjointView<Eigen::Lower>().llt().solve(used * target);
    Tell(phase, Phase::kPredict);
    for (std::size_t k = 0; k < issues.size(); ++k) {
      table.Fill(issues[k], lead, row);
      out.At(k, lead) = Unlog(b.dot(features - mean) + centre);
    }
  }
  return out;
}

}  // namespace lowtide
