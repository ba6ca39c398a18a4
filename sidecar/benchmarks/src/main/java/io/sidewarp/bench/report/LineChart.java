// Copyright The Sidewarp Authors
// SPDX-License-Identifier: Apache-2.0

package io.sidewarp.bench.report;

import io.sidewarp.bench.result.Series;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A line chart in SVG: values over categories, with the spread of each value. The scale is logarithmic, since the
 * values differ by orders of magnitude.
 */
final class LineChart {

    private static final int WIDTH = 760;
    private static final int HEIGHT = 420;
    private static final int LEFT = 70;
    private static final int RIGHT = 190;
    private static final int TOP = 40;
    private static final int BOTTOM = 50;

    /** Colours that people with colour blindness can distinguish, too. */
    private static final List<String> COLOURS =
            List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999");

    private final String title;
    private final String valueAxis;
    private final String categoryAxis;
    private final List<String> categories;
    private final List<Line> lines = new ArrayList<>();

    private record Line(String name, List<Optional<Series>> values) {}

    LineChart(String title, String valueAxis, String categoryAxis, List<String> categories) {
        this.title = title;
        this.valueAxis = valueAxis;
        this.categoryAxis = categoryAxis;
        this.categories = categories;
    }

    /** Adds a line unless it has no positive value. */
    void add(String name, List<Optional<Series>> values) {
        if (values.size() != categories.size()) {
            throw new IllegalArgumentException(values.size() + " values for " + categories.size() + " categories");
        }
        if (values.stream()
                .anyMatch(value -> value.filter(series -> series.median() > 0).isPresent())) {
            lines.add(new Line(name, values));
        }
    }

    String render() {
        double[] range = range();
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
                        + " font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
                WIDTH,
                HEIGHT,
                WIDTH,
                HEIGHT));
        text(svg, LEFT, 20, "start", 14, title);
        axes(svg, range);
        for (int i = 0; i < lines.size(); i++) {
            line(svg, lines.get(i), i, range);
        }
        return svg.append("</svg>\n").toString();
    }

    /** Returns the powers of ten below the least and above the greatest value. */
    private double[] range() {
        double[] positive = lines.stream()
                .flatMap(line -> line.values.stream().flatMap(Optional::stream))
                .mapToDouble(Series::median)
                .filter(value -> value > 0)
                .sorted()
                .toArray();
        if (positive.length == 0) {
            return new double[] {0, 1};
        }
        double low = Math.floor(Math.log10(positive[0]));
        double high = Math.ceil(Math.log10(positive[positive.length - 1]));
        return new double[] {low, Math.max(high, low + 1)};
    }

    private void axes(StringBuilder svg, double[] range) {
        for (int power = (int) range[0]; power <= range[1]; power++) {
            double y = y(Math.pow(10, power), range);
            svg.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
                    LEFT,
                    y,
                    WIDTH - RIGHT,
                    y));
            text(svg, LEFT - 6, y + 4, "end", 12, Cells.number(Math.pow(10, power)));
        }
        for (int i = 0; i < categories.size(); i++) {
            text(svg, x(i), HEIGHT - BOTTOM + 18, "middle", 12, categories.get(i));
        }
        text(svg, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 10, "middle", 12, categoryAxis);
        svg.append(String.format(
                Locale.ROOT,
                "<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
                (TOP + HEIGHT - BOTTOM) / 2,
                escape(valueAxis)));
    }

    private void line(StringBuilder svg, Line line, int index, double[] range) {
        String colour = COLOURS.get(index % COLOURS.size());
        StringBuilder points = new StringBuilder();
        for (int i = 0; i < line.values.size(); i++) {
            Series series =
                    line.values.get(i).filter(value -> value.median() > 0).orElse(null);
            if (series != null) {
                points.append(String.format(Locale.ROOT, "%.1f,%.1f ", x(i), y(series.median(), range)));
                svg.append(String.format(
                        Locale.ROOT,
                        """
                        <line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>
                        <circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>
                        """,
                        x(i),
                        y(series.min(), range),
                        x(i),
                        y(series.max(), range),
                        colour,
                        x(i),
                        y(series.median(), range),
                        colour));
            }
        }
        svg.append(String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
                points.toString().strip(),
                colour));
        double y = TOP + 18.0 * index;
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%d\" y=\"%.1f\" width=\"12\" height=\"4\" fill=\"%s\"/>\n",
                WIDTH - RIGHT + 16,
                y - 6,
                colour));
        text(svg, WIDTH - RIGHT + 34, y, "start", 12, line.name);
    }

    private double x(int category) {
        double step = (double) (WIDTH - LEFT - RIGHT) / categories.size();
        return LEFT + step * (category + 0.5);
    }

    private static double y(double value, double[] range) {
        double height = HEIGHT - TOP - BOTTOM;
        double share = (Math.log10(Math.max(value, Double.MIN_NORMAL)) - range[0]) / (range[1] - range[0]);
        return TOP + height * (1 - Math.clamp(share, 0, 1));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, int size, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s</text>\n",
                x,
                y,
                anchor,
                size,
                escape(text)));
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
