#include "grid/source_chain.h"

#include <fmt/format.h>

#include <algorithm>

namespace lowtide {
namespace {

// Why each of the links did not answer, in one line.
class Reasons {
 public:
  void Add(const ChainLink& link, const Error& error) {
    if (!first_) first_ = error.code;
    Append(link, error.message);
  }
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

void SourceChain::NoteAnswer(const std::string& purpose, const std::string& who,
                             const std::string& why) const {
  const std::scoped_lock lock(mutex_);
  const auto it =
      std::ranges::find(answering_, purpose, &std::pair<std::string, std::string>::first);
  const bool first = it == answering_.end();
  if (!first && it->second == who) return;
  const std::string before = first ? "" : it->second;
  if (first) {
    answering_.emplace_back(purpose, who);
    if (why.empty()) return;  // as everybody expects
  } else {
    it->second = who;
  }
  std::string text = fmt::format("{} now from {}", purpose, who);
  if (!before.empty()) text += ", before from " + before;
  if (!why.empty()) text += fmt::format(" ({})", why);
  notices_.push_back(std::move(text));
}

Result<IntensitySeries> SourceChain::History(TimePoint from, TimePoint to, TimePoint now) const {
  Reasons reasons;
  for (const ChainLink& link : links_) {
    if (link.stand_in) continue;
    auto series = link.source->History(from, to, now);
    if (series && !series->slots.empty()) {
      NoteAnswer("carbon intensity", link.name, reasons.Text());
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
    NoteAnswer("carbon intensity", fmt::format("what {} has said before", link.name),
               reasons.Text());
    return series;
  }
  for (const ChainLink& link : links_) {
    if (!link.stand_in) continue;
    auto series = link.source->History(from, to, now);
    if (series && !series->slots.empty()) {
      NoteAnswer("carbon intensity", link.name, reasons.Text());
      return series;
    }
    if (!series) reasons.Add(link, series.error());
  }
  return std::unexpected(reasons.ToError());
}

Result<IntensityReading> SourceChain::Latest(TimePoint now) const {
  Reasons reasons;
  for (const bool stand_in : {false, true}) {
    for (const ChainLink& link : links_) {
      if (link.stand_in != stand_in) continue;
      auto reading = link.source->Latest(now);
      if (reading) {
        NoteAnswer("carbon intensity", link.name, reasons.Text());
        return reading;
      }
      reasons.Add(link, reading.error());
    }
    if (stand_in) break;
    // Before anything stands in: the last that is kept, with its own times.
    for (const ChainLink& link : links_) {
      if (link.stand_in) continue;
      const auto kept = link.source->Kept(now - ToMilliseconds(options_.kept_age), now, now);
      if (!kept || kept->slots.empty()) continue;
      IntensityReading reading{kept->origin, kept->slots.back(), kept->fetched_at};
      reading.origin.kind = kept->KindOf(reading.slot);
      NoteAnswer("carbon intensity", fmt::format("what {} has said before", link.name),
                 reasons.Text());
      return reading;
    }
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
        NoteAnswer("forecast", link.name, reasons.Text());
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
