package io.pipeset.benchmark.report;

import java.util.List;
import java.util.Locale;

/**
 * Bars, as an SVG that needs nothing but itself.
 *
 * @param title above the bars
 * @param subtitle below the title
 * @param unit the unit of the bars' values
 * @param bars from top to bottom
 */
public record Chart(String title, String subtitle, String unit, List<Bar> bars) {

	private static final int WIDTH = 820;

	private static final int LEFT = 270;

	private static final int TOP = 84;

	private static final int ROW = 34;

	private static final int BAR = 20;

	/**
	 * Draws the chart.
	 * @return SVG
	 */
	public String toSvg() {
		int height = TOP + this.bars.size() * ROW + 12;
		double longest = this.bars.stream().mapToDouble(Bar::value).max().orElse(1);
		StringBuilder svg = new StringBuilder();
		add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
				+ " font-family=\"Helvetica, Arial, sans-serif\" role=\"img\" aria-label=\"%s\">", WIDTH, height, WIDTH,
				height, escape(this.title));
		add(svg, "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#ffffff\"/>");
		add(svg, "<text x=\"24\" y=\"36\" font-size=\"20\" font-weight=\"bold\" fill=\"#1f2328\">%s</text>",
				escape(this.title));
		add(svg, "<text x=\"24\" y=\"60\" font-size=\"13\" fill=\"#59636e\">%s</text>", escape(this.subtitle));
		int y = TOP;
		for (Bar bar : this.bars) {
			double width = Math.max(2, (WIDTH - LEFT - 90) * bar.value() / longest);
			int middle = y + BAR / 2 + 5;
			add(svg, "<text x=\"%d\" y=\"%d\" font-size=\"14\" text-anchor=\"end\" fill=\"#1f2328\"%s>%s</text>",
					LEFT - 12, middle, (bar.highlighted()) ? " font-weight=\"bold\"" : "", escape(bar.label()));
			add(svg, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"3\" fill=\"%s\"/>", LEFT, y, width, BAR,
					(bar.highlighted()) ? "#d1242f" : "#8c959f");
			add(svg, "<text x=\"%.1f\" y=\"%d\" font-size=\"14\" fill=\"#1f2328\">%.2f %s</text>", LEFT + width + 8,
					middle, bar.value(), this.unit);
			y += ROW;
		}
		return svg.append("</svg>\n").toString();
	}

	private static void add(StringBuilder svg, String format, Object... arguments) {
		svg.append(String.format(Locale.ROOT, format, arguments)).append('\n');
	}

	private static String escape(String text) {
		return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
	}

	/**
	 * One bar.
	 *
	 * @param label the text beside the bar
	 * @param value its length
	 * @param highlighted whether this is the bar that matters
	 */
	public record Bar(String label, double value, boolean highlighted) {

	}

}
