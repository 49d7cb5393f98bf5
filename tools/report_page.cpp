#include "tools/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kiln::tools {

namespace {

using runtime::Measurement;

constexpr double kWidth = 460, kHeight = 270, kLeft = 62, kRight = 14, kTop = 14, kBottom = 40;
constexpr std::size_t kBestRows = 10;
// Times further apart than this are drawn on a logarithmic axis; it holds a power of ten, so that there is a mark.
constexpr double kWideRange = 10;

constexpr const char* kStyle = R"(
:root{--ink:#1d2430;--soft:#667080;--line:#dde2ea;--back:#fff;--card:#f7f8fb;--good:#2457c5;--best:#0a8f5b;--bad:#c0392b}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#9aa4b2;--line:#333b47;--back:#14181f;--card:#1b212a;--good:#7aa2ff;--best:#43d19e;--bad:#ff7b6b}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:1040px;margin:2em auto;padding:0 1em}
h1{font-size:1.5em;margin-bottom:.2em}h2{font-size:1.12em;margin:0 0 .1em}p{margin:.2em 0}.soft{color:var(--soft)}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1em 1.2em;margin:1.2em 0}
.charts{display:flex;flex-wrap:wrap;gap:1em;margin:.8em 0}figure{margin:0;flex:1 1 440px}figcaption{color:var(--soft);font-size:.9em}
svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
table{border-collapse:collapse;width:100%;font-size:.93em}th,td{text-align:left;padding:.22em .7em .22em 0;border-bottom:1px solid var(--line)}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}tr.best td{color:var(--best);font-weight:600}code{font-size:.95em}
)";

std::string escape(const std::string& text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '&':
                result += "&amp;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

bool is_timed(const Measurement& row) {
    return row.seconds > 0 && (row.verdict == runtime::Verdict::Verified || row.verdict == runtime::Verdict::Unchecked);
}

/// One axis: a range of numbers over a range of pixels, linear or logarithmic.
struct Axis {
    double low, high, from, to;
    bool logarithmic;

    double at(double value) const {
        const double share = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
        return from + std::clamp(share, 0.0, 1.0) * (to - from);
    }
    std::vector<double> ticks() const {
        std::vector<double> list;
        if (logarithmic) {
            for (double tick = std::pow(10, std::ceil(std::log10(low) - 1e-9)); tick <= high * 1.0001; tick *= 10)
                list.push_back(tick);
            return list;
        }
        const double rough = (high - low) / 5, unit = std::pow(10, std::floor(std::log10(rough)));
        const double step = rough / unit < 1.5   ? unit
                            : rough / unit < 3.5 ? 2 * unit
                            : rough / unit < 7.5 ? 5 * unit
                                                 : 10 * unit;
        for (double tick = std::ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) list.push_back(tick);
        return list;
    }
};

std::string frame(const Axis& x, const Axis& y, const std::string& x_title, const std::string& y_title) {
    std::string svg = fmt::format(R"svg(<svg viewBox="0 0 {} {}" role="img">)svg", kWidth, kHeight);
    for (const double tick : y.ticks()) {
        svg += fmt::format(R"svg(<line x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}" stroke="var(--line)"/>)svg"
                           R"svg(<text x="{3}" y="{4:.1f}" text-anchor="end">{5:g}</text>)svg",
                           x.from, x.to, y.at(tick), x.from - 5, y.at(tick) + 4, tick);
    }
    for (const double tick : x.ticks()) {
        svg += fmt::format(R"svg(<text x="{:.1f}" y="{}" text-anchor="middle">{:g}</text>)svg", x.at(tick), y.from + 15,
                           tick);
    }
    svg +=
        fmt::format(R"svg(<line x1="{0}" x2="{1}" y1="{2}" y2="{2}" stroke="var(--soft)"/>)svg", x.from, x.to, y.from);
    svg += fmt::format(R"svg(<text x="{}" y="{}" text-anchor="middle">{}</text>)svg", (x.from + x.to) / 2, kHeight - 6,
                       x_title);
    svg += fmt::format(R"svg(<text transform="translate(13 {}) rotate(-90)" text-anchor="middle">{}</text>)svg",
                       (y.from + y.to) / 2, y_title);
    return svg;
}

std::string dot(double x, double y, const char* colour, double radius, const std::string& label) {
    return fmt::format(
        R"svg(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}" fill-opacity=".75"><title>{}</title></circle>)svg", x, y,
        radius, colour, escape(label));
}

std::string label_of(const Measurement& row) {
    return fmt::format("{}: {:.4g} ms", runtime::to_string(row.configuration), row.seconds * 1e3);
}

/// Each trial's time, and the best so far.
std::string convergence(const std::vector<Measurement>& rows) {
    double slowest = 0;
    std::vector<double> times;
    for (const Measurement& row : rows) {
        if (is_timed(row)) times.push_back(row.seconds * 1e3);
    }
    if (times.empty()) return "<p class=soft>Nothing was timed.</p>";
    slowest = *std::max_element(times.begin(), times.end());
    const Axis x{0, std::max<double>(static_cast<double>(rows.size()), 2), kLeft, kWidth - kRight, false};
    // Next to something a hundred times slower, differences between the good ones would not show.
    const double fastest = *std::min_element(times.begin(), times.end());
    const bool logarithmic = slowest > kWideRange * fastest;
    const Axis y{logarithmic ? fastest * 0.8 : 0, slowest * (logarithmic ? 1.25 : 1.08), kHeight - kBottom, kTop,
                 logarithmic};
    std::string svg = frame(x, y, "trial", logarithmic ? "ms (logarithmic)" : "ms"), path;
    double best = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double at = x.at(static_cast<double>(i + 1));
        if (!is_timed(rows[i])) {
            svg += fmt::format(
                R"svg(<text x="{:.1f}" y="{}" text-anchor="middle" style="fill:var(--bad)">x<title>{}: {}</title></text>)svg",
                at, kTop + 8, escape(runtime::to_string(rows[i].configuration)), escape(rows[i].reason));
            continue;
        }
        const double time = rows[i].seconds * 1e3;
        svg += dot(at, y.at(time), "var(--good)", 3, label_of(rows[i]));
        if (best != 0) path += fmt::format(" H{:.1f}", at);
        if (best == 0 || time < best) {
            path += fmt::format("{}{:.1f}", best == 0 ? fmt::format("M{:.1f} ", at) : " V", y.at(time));
            best = time;
        }
    }
    svg += fmt::format(R"svg(<path d="{}" fill="none" stroke="var(--best)" stroke-width="2"/></svg>)svg", path);
    return "<figure>" + svg +
           "<figcaption>Trials, and the best so far. A cross is a trial that failed.</figcaption></figure>";
}

/// Rate over operations a byte, both logarithmic.
std::string roofline(const std::vector<Measurement>& rows, const Roofline& roof) {
    const double intensity = roof.operations / std::max(roof.bytes, 1.0);
    const double ridge = roof.peak_operations / roof.peak_bytes;
    const Axis x{std::min(intensity, ridge) / 10, std::max(intensity, ridge) * 10, kLeft, kWidth - kRight, true};
    double slowest = roof.peak_operations;
    for (const Measurement& row : rows) {
        if (is_timed(row)) slowest = std::min(slowest, roof.operations / row.seconds);
    }
    // Whole decades, so that there are always two marks to read by.
    const double low = std::floor(std::log10(std::min(slowest, roof.peak_bytes * x.low) / 1e9));
    const double high = std::ceil(std::log10(roof.peak_operations / 1e9) + 0.05);
    const Axis y{std::pow(10, low), std::pow(10, high), kHeight - kBottom, kTop, true};
    std::string svg = frame(x, y, "operations a byte", "Gflop/s");
    svg += fmt::format(
        R"svg(<path d="M{:.1f} {:.1f} L{:.1f} {:.1f} H{:.1f}" fill="none" stroke="var(--soft)" stroke-width="2"/>)svg",
        x.at(x.low), y.at(roof.peak_bytes * x.low / 1e9), x.at(ridge), y.at(roof.peak_operations / 1e9), x.to);
    const Measurement* best = nullptr;
    for (const Measurement& row : rows) {
        if (!is_timed(row)) continue;
        svg += dot(x.at(intensity), y.at(roof.operations / row.seconds / 1e9), "var(--good)", 3, label_of(row));
        if (best == nullptr || row.seconds < best->seconds) best = &row;
    }
    if (best != nullptr) {
        const double rate = roof.operations / best->seconds,
                     roof_here = std::min(roof.peak_operations, intensity * roof.peak_bytes);
        svg += dot(x.at(intensity), y.at(rate / 1e9), "var(--best)", 5, label_of(*best));
        const bool to_the_left = intensity > ridge * 2;
        svg += fmt::format(
            R"svg(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" style="fill:var(--best)">{:.4g} Gflop/s, {:.0f}% of the roof</text>)svg",
            x.at(intensity) + (to_the_left ? -9 : 9), y.at(rate / 1e9) - 7, to_the_left ? "end" : "start", rate / 1e9,
            100 * rate / roof_here);
    }
    return "<figure>" + svg +
           "</svg><figcaption>Roofline: peak of the vector units and of memory as the cost model has them; bytes "
           "count each tensor once.</figcaption></figure>";
}

std::string best_table(std::vector<Measurement> rows, const std::optional<Roofline>& roof) {
    std::erase_if(rows, [](const Measurement& row) { return !is_timed(row); });
    std::sort(rows.begin(), rows.end(),
              [](const Measurement& a, const Measurement& b) { return a.seconds < b.seconds; });
    std::string html =
        "<table><tr><th>configuration</th><th class=n>ms</th><th class=n>&plusmn; %</th><th class=n>of the best</th>"
        "<th class=n>Gflop/s</th><th>verdict</th></tr>";
    for (std::size_t i = 0; i < std::min(rows.size(), kBestRows); ++i) {
        const Measurement& row = rows[i];
        html += fmt::format(
            "<tr{}><td><code>{}</code></td><td class=n>{:.4g}</td><td class=n>{:.1f}</td><td class=n>{:.3f}</td>"
            "<td class=n>{}</td><td>{}{}</td></tr>",
            i == 0 ? " class=best" : "", escape(runtime::to_string(row.configuration)), row.seconds * 1e3,
            100 * row.spread_seconds / row.seconds, rows[0].seconds / row.seconds,
            roof ? fmt::format("{:.1f}", roof->operations / row.seconds / 1e9) : "", runtime::verdict_name(row.verdict),
            row.contended ? ", contended" : "");
    }
    return html + "</table>";
}

std::string failure_list(const std::vector<Measurement>& rows) {
    std::string html;
    for (const Measurement& row : rows) {
        if (is_timed(row)) continue;
        html += fmt::format("<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
                            escape(runtime::to_string(row.configuration)), runtime::verdict_name(row.verdict),
                            escape(row.reason));
    }
    if (html.empty()) return {};
    return "<details><summary>What failed or was excluded</summary><table>" + html + "</table></details>";
}

std::string section_html(const ReportSection& section) {
    std::string html = fmt::format("<section><h2>{}</h2><p class=soft>{} &middot; {} rows</p><div class=charts>",
                                   escape(section.title), escape(section.device), section.rows.size());
    html += convergence(section.rows);
    if (section.roofline) html += roofline(section.rows, *section.roofline);
    return html + "</div>" + best_table(section.rows, section.roofline) + failure_list(section.rows) + "</section>\n";
}

}  // namespace

std::string report_page(const std::vector<ReportSection>& sections) {
    std::string html = fmt::format(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
        "<title>Kiln tuning report</title><style>{}</style><h1>Kiln tuning report</h1>"
        "<p class=soft>{} problems</p>\n",
        kStyle, sections.size());
    for (const ReportSection& section : sections) html += section_html(section);
    return html + "</html>\n";
}

}  // namespace kiln::tools
