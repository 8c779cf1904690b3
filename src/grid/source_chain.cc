#include "grid/source_chain.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

// Operators publish what was generated an hour or a few after it was.
constexpr auto kUsualLag = std::chrono::hours(6);

// Why each of the links did not answer, in one line.
class Reasons {
 public:
  void Add(const ChainLink& link, const Error& error) {
    if (!first_) first_ = error.code;
    Append(link, error.message);
  }
  // Whether one did not answer, rather than having nothing to say.
  bool Failed() const { return first_.has_value(); }
  void AddEmpty(const ChainLink& link) { Append(link, "nothing is known there"); }
  const std::string& Text() const { return text_; }
  Error ToError() const { return {first_.value_or(Code::kNotFound), text_}; }

 private:
  void Append(const ChainLink& link, std::string_view why) {
    if (!text_.empty()) text_ += "; ";
    // Providers begin their messages with their name already.
    text_ += why.starts_with(link.name) ? std::string(why) : fmt::format("{}: {}", link.name, why);
  }
  std::string text_;
  std::optional<Code> first_;
};

// A day, so that the next question finds it.
std::optional<IntensityReading> ForecastNow(const Source& source, TimePoint now) {
  const TimePoint hour = std::chrono::floor<std::chrono::hours>(now);
  const auto series = source.Forecast(hour, hour + std::chrono::hours(24), now);
  if (!series) return std::nullopt;
  const auto* const slot = SlotAt(series->slots, now);
  if (slot == nullptr) return std::nullopt;
  return IntensityReading{series->origin, *slot, series->fetched_at};
}

}  // namespace

Result<std::unique_ptr<SourceChain>> SourceChain::Make(std::vector<ChainLink> links,
                                                       ChainOptions options) {
  std::vector<std::string> notices = std::exchange(options.notices, {});
  if (!options.signal && !links.empty()) options.signal = links.front().source->Origin().signal;
  std::vector<ChainLink> kept;
  for (ChainLink& link : links) {
    const Signal signal = link.source->Origin().signal;
    if (signal == *options.signal) {
      kept.push_back(std::move(link));
      continue;
    }
    notices.push_back(fmt::format(
        "{} is passed over: it gives the {} intensity, and this is about the {} one (the two are "
        "never mixed)",
        link.name, SignalName(signal), SignalName(*options.signal)));
  }
  if (kept.empty()) {
    return Fail(Code::kInvalidArgument,
                notices.empty() ? "a chain of sources needs at least one" : notices.back());
  }
  std::unique_ptr<SourceChain> chain(new SourceChain(std::move(kept), std::move(options)));
  chain->notices_ = std::move(notices);
  return chain;
}

void SourceChain::NoteAnswer(const std::string& purpose, const std::string& who, Basis basis,
                             const std::string& why) const {
  const std::scoped_lock lock(mutex_);
  const auto it = std::ranges::find(answering_, purpose, &Answering::purpose);
  const bool first = it == answering_.end();
  if (!first && it->who == who) return;
  const Answering before = first ? Answering{purpose, "", basis} : *it;
  if (first) {
    answering_.push_back({purpose, who, basis});
    if (why.empty()) return;  // as everybody expects
  } else {
    *it = {purpose, who, basis};
  }
  std::string text = fmt::format("{} now from {}", purpose, who);
  if (!before.who.empty()) text += ", before from " + before.who;
  if (before.basis != basis) {
    text += fmt::format("; its basis is {}, before {}", BasisName(basis), BasisName(before.basis));
  }
  if (!why.empty()) text += fmt::format(" ({})", why);
  notices_.push_back(std::move(text));
}

Result<IntensitySeries> SourceChain::History(TimePoint from, TimePoint to, TimePoint now) const {
  Reasons reasons;
  // Providers tell of an hour when it is over: that one has nothing of the last hours yet is no
  // reason to speak of another that has.
  const bool recent = now - from < kUsualLag;
  const auto note = [&](const std::string& who, const IntensitySeries& series) {
    if (recent && !reasons.Text().empty() && !reasons.Failed()) return;
    NoteAnswer("carbon intensity", who, series.origin.basis, reasons.Text());
  };
  for (const ChainLink& link : links_) {
    if (link.stand_in) continue;
    auto series = link.source->History(from, to, now);
    if (series && !series->slots.empty()) {
      note(link.name, *series);
      return series;
    }
    if (series) {
      reasons.AddEmpty(link);
    } else {
      reasons.Add(link, series.error());
    }
  }
  for (const ChainLink& link : links_) {
    if (link.stand_in) continue;
    auto series = link.source->Kept(from, to, now);
    if (!series || series->slots.empty()) continue;
    const Seconds age = now - series->slots.back().to;
    if (age > options_.kept_age) continue;
    note(fmt::format("what {} has said before", link.name), *series);
    return series;
  }
  for (const ChainLink& link : links_) {
    if (!link.stand_in) continue;
    auto series = link.source->History(from, to, now);
    if (series && !series->slots.empty()) {
      note(link.name, *series);
      return series;
    }
    if (!series) reasons.Add(link, series.error());
  }
  return std::unexpected(reasons.ToError());
}

Result<IntensityReading> SourceChain::Latest(TimePoint now) const {
  Reasons reasons;
  const auto note = [&](const std::string& who, const IntensityReading& reading) {
    NoteAnswer("carbon intensity", who, reading.origin.basis, reasons.Text());
  };
  std::vector<const ChainLink*> late;
  for (const ChainLink& link : links_) {
    if (link.stand_in) continue;
    auto reading = link.source->Latest(now);
    if (!reading && reading.error().code == Code::kNotFound) {
      late.push_back(&link);
      if (auto forecast = ForecastNow(*link.source, now)) reading = *std::move(forecast);
    }
    if (reading) {
      note(link.name, *reading);
      return reading;
    }
    reasons.Add(link, reading.error());
  }
  // Before anything stands in: the last that is kept, with its own times.
  for (const ChainLink& link : links_) {
    if (link.stand_in) continue;
    const auto kept = link.source->Kept(now - ToMilliseconds(options_.kept_age), now, now);
    if (!kept || kept->slots.empty()) continue;
    IntensityReading reading{kept->origin, kept->slots.back(), kept->fetched_at};
    reading.origin.kind = kept->KindOf(reading.slot);
    // One that is late as ever has not failed.
    const bool is_late = std::ranges::find(late, &link) != late.end();
    note(is_late ? link.name : fmt::format("what {} has said before", link.name), reading);
    return reading;
  }
  for (const ChainLink& link : links_) {
    if (!link.stand_in) continue;
    auto reading = link.source->Latest(now);
    if (reading) {
      note(link.name, *reading);
      return reading;
    }
    reasons.Add(link, reading.error());
  }
  return std::unexpected(reasons.ToError());
}

Result<IntensitySeries> SourceChain::Forecast(TimePoint from, TimePoint to, TimePoint now) const {
  Reasons reasons;
  for (const bool stand_in : {false, true}) {
    for (const ChainLink& link : links_) {
      if (link.stand_in != stand_in) continue;
      auto series = link.source->Forecast(from, to, now);
      if (series && !series->slots.empty()) {
        NoteAnswer("forecast", link.name, series->origin.basis, reasons.Text());
        return series;
      }
      // Having none is not a failure that anybody needs to hear of.
      if (!series && series.error().code != Code::kUnimplemented) reasons.Add(link, series.error());
      if (series) reasons.AddEmpty(link);
    }
  }
  if (reasons.Text().empty()) {
    return Fail(Code::kUnimplemented, "no source of the chain gives a forecast");
  }
  return std::unexpected(reasons.ToError());
}

Result<IntensitySeries> SourceChain::Kept(TimePoint from, TimePoint to, TimePoint now) const {
  for (const ChainLink& link : links_) {
    auto series = link.source->Kept(from, to, now);
    if (series && !series->slots.empty()) return series;
  }
  return IntensitySeries{Origin(), {}};
}

std::vector<std::string> SourceChain::TakeNotices() const {
  std::vector<std::string> out;
  {
    const std::scoped_lock lock(mutex_);
    out = std::exchange(notices_, {});
  }
  for (const ChainLink& link : links_) {
    for (std::string& notice : link.source->TakeNotices()) {
      out.push_back(link.name + ": " + std::move(notice));
    }
  }
  return out;
}

}  // namespace lowtide
