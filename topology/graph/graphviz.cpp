#include "topology/graph/graphviz.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <ostream>
#include <string>
#include <vector>

#include <boost/graph/iteration_macros.hpp>

namespace podsim::topology {
namespace {

/// Distance in inches from chip to chip, and from one layer of z or one slice to the next.
constexpr double kChipsApart = 2.4;
constexpr double kLayersApart = 1.0;
/// Lines bend round boxes up to this size; beyond it Graphviz takes minutes.
constexpr int kMostChipsWithBentLines = 64;

struct Spot {
    double right = 0;
    double up = 0;
};

/// Returns the position of a chip: x goes down, y to the right. Layers of z stand side by side,
/// slices further to the right.
Spot spot_of(const Places& places, int place) {
    const Point at = places.point(place);
    const double layer = places.chips.length(1) * kChipsApart + kLayersApart;
    const double slice = places.chips.length(2) * layer + kLayersApart;
    return {at[1] * kChipsApart + at[2] * layer + places.slice_of(place) * slice,
            -at[0] * kChipsApart};
}

const char* colour_of(const LinkKind& kind) {
    switch (kind.link_class) {
        case LinkClass::hbm:
            return "darkorange2";
        case LinkClass::pcie:
            return "gray45";
        case LinkClass::dcn:
            return "purple3";
        case LinkClass::ici:
            break;
    }
    return kind.name.back() == 'x' ? "red3" : kind.name.back() == 'y' ? "green4" : "blue3";
}

/// Returns a text such as `90 GB/s each way`.
std::string rate_text(const LinkKind& kind) {
    return fmt::format("{:.4g} GB/s{}", kind.rate.value.value() / 1e9,
                       kind.rate_is_of_pair ? " in all" : " each way");
}

class Drawing {
public:
    Drawing(std::ostream& out, const MachineGraph& machine) : out_(out), machine_(machine) {}

    void draw() {
        const bool bent = count_of(machine_, VertexKind::chip) <= kMostChipsWithBentLines;
        fmt::print(out_,
                   "digraph machine {{\n"
                   "graph [layout=neato,splines={},fontname=Helvetica,fontsize=11,labeljust=l];\n"
                   "node [fontname=Helvetica,fontsize=11,style=filled,fillcolor=white];\n"
                   "edge [dir=both,arrowsize=0.5];\n",
                   bent ? "true" : "line");
        draw_hosts();
        draw_networks();
        draw_links();
        draw_legend();
        out_ << "}\n";
    }

private:
    void node(Vertex vertex, const std::string& label, const char* look, const Spot& spot) {
        fmt::print(out_, "{} [label=\"{}\",{},pos=\"{:.2f},{:.2f}!\"];\n", vertex, label, look,
                   spot.right, spot.up);
        lowest_ = std::min(lowest_, spot.up);
        rightmost_ = std::max(rightmost_, spot.right);
    }

    /// Draws a box around every host, its chips and their HBM.
    void draw_hosts() {
        const Places& places = record(machine_).places;
        for (int number = 0; number < count_of(machine_, VertexKind::host); ++number) {
            const Vertex host = vertex_of(machine_, VertexKind::host, number);
            fmt::print(out_,
                       "subgraph cluster_host{} {{\nstyle=\"rounded,filled\"; fillcolor=gray95; "
                       "color=gray70; margin=14;\n",
                       number);
            Spot middle;
            int chips = 0;
            BGL_FORALL_ADJ(host, chip, machine_, MachineGraph) {
                if (machine_[chip].kind != VertexKind::chip) {
                    continue;
                }
                const int place = static_cast<int>(chip);
                const Spot spot = spot_of(places, place);
                node(chip, fmt::format("chip {}", fmt::join(places.point(place), ",")),
                     "shape=box,height=0.45", spot);
                node(vertex_of(machine_, VertexKind::hbm, place), "HBM",
                     "shape=cylinder,height=0.4,width=0.5,fillcolor=moccasin",
                     {spot.right + 0.9, spot.up + 0.38});
                middle = {middle.right + spot.right, middle.up + spot.up};
                ++chips;
            }
            node(host, fmt::format("host {}\\nand its memory", number), "shape=box3d",
                 {middle.right / chips + (chips == 1 ? 1.2 : 0), middle.up / chips});
            out_ << "}\n";
        }
    }

    void draw_networks() {
        for (int number = 0; number < count_of(machine_, VertexKind::fabric); ++number) {
            node(vertex_of(machine_, VertexKind::fabric, number), "data-centre network",
                 "shape=ellipse,fillcolor=thistle1",
                 {rightmost_ / 2, lowest_ - kChipsApart * (number == 0 ? 0.75 : 0.5)});
        }
    }

    /// True for one link of each pair: the one towards higher coordinates or to the later vertex.
    [[nodiscard]] bool stands_for_pair(const Edge& link) const {
        const Vertex from = source(link, machine_);
        const Vertex to = target(link, machine_);
        const bool of_torus =
            machine_[from].kind == VertexKind::chip && machine_[to].kind == VertexKind::chip;
        return of_torus ? direction_of(machine_[link].kind) > 0 : from < to;
    }

    /// True if a link of the torus leads past the end of its axis.
    [[nodiscard]] bool wraps(const Edge& link) const {
        if (kind_of(machine_, link).link_class != LinkClass::ici) {
            return false;
        }
        const Places& places = record(machine_).places;
        const int axis = axis_of(machine_[link].kind);
        const Point at = places.point(static_cast<int>(source(link, machine_)));
        return at[static_cast<std::size_t>(axis)] + 1 == places.chips.length(axis);
    }

    void draw_links() {
        BGL_FORALL_EDGES(link, machine_, MachineGraph) {
            if (stands_for_pair(link)) {
                fmt::print(out_, "{}->{} [color={}{}];\n", source(link, machine_),
                           target(link, machine_), colour_of(kind_of(machine_, link)),
                           wraps(link) ? ",style=dashed" : "");
                ++pairs_[machine_[link].kind];
            }
        }
    }

    void draw_legend() {
        fmt::print(out_,
                   "legend [shape=plain,pos=\"{:.2f},{:.2f}!\",label=<<table border=\"1\" "
                   "cellborder=\"0\" cellspacing=\"4\" color=\"gray70\" bgcolor=\"white\">\n",
                   rightmost_ / 2, lowest_ - kChipsApart * 0.6);
        out_ << "<tr><td></td><td></td><td>links</td><td>rate</td><td>latency</td></tr>\n";
        for (std::size_t k = 0; k < pairs_.size(); ++k) {
            if (pairs_[k] == 0) {
                continue;
            }
            const LinkKind& kind = record(machine_).kinds[k];
            const bool ici = kind.link_class == LinkClass::ici;
            fmt::print(out_,
                       "<tr><td><font color=\"{}\"><b>&#8212;&#8212;</b></font></td><td "
                       "align=\"left\">{}{}</td><td align=\"right\">{} pairs</td><td "
                       "align=\"right\">{}</td><td align=\"right\">{:.4g} us</td></tr>\n",
                       colour_of(kind), to_string(kind.link_class),
                       ici ? fmt::format(" {}", kind.name.back()) : "", pairs_[k], rate_text(kind),
                       kind.latency.value.value() * 1e6);
        }
        out_ << "</table>>];\n";
    }

    std::ostream& out_;
    const MachineGraph& machine_;
    std::array<int, kLinkKinds> pairs_{};
    double lowest_ = 0;
    double rightmost_ = 0;
};

}  // namespace

void write_graphviz(std::ostream& out, const MachineGraph& machine) {
    Drawing(out, machine).draw();
}

}  // namespace podsim::topology
