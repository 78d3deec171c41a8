// A stacked area chart of the outcomes of a job over time.

import { duration, h, number, svg } from './page.js';

const MAX_POINTS = 400;
const WIDTH = 800;
const HEIGHT = 180;

/** The outcomes from bottom to top. */
export const OUTCOMES = ['applied', 'noop', 'unknown', 'unprocessed', 'rejected'];

/** The next round number. */
function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
	return [1, 2, 2.5, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value;
}

export class Chart {
	points = [{ at: 0, counts: Object.fromEntries(OUTCOMES.map((name) => [name, 0])) }];
	areas = OUTCOMES.map((name) => svg('path', { class: `area ${name}` }));
	legend = OUTCOMES.map((name) => h('span', { class: `legend ${name}` }, name));
	drawing = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img' },
			[0, HEIGHT / 2].map((y) => svg('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y, y2: y })), this.areas,
			svg('line', { class: 'axis', x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }));
	top = h('span', { class: 'top' });
	middle = h('span', { class: 'middle' });
	from = h('span', { class: 'from' });
	to = h('span', { class: 'to' });
	element = h('figure', { class: 'chart', hidden: true }, h('figcaption', {}, 'Records by outcome', this.legend), this.drawing, this.top, this.middle, this.from, this.to);

	/** Removes all points, because the time of a resumed job begins at zero. */
	clear() {
		this.points = [];
	}

	/** Adds the counts at a time, in milliseconds since the job was created. */
	add(at, counts, active) {
		this.legend[OUTCOMES.indexOf('unknown')].textContent = (active || !counts.unknown) ? 'in flight' : 'unknown';
		const last = this.points.at(-1);
		if (at < last?.at) return;
		if (at === last?.at) {
			this.points.pop();
		}
		this.points.push({ at, counts });
		if (this.points.length > MAX_POINTS) {
			// Keep every second point, and all of the newest.
			this.points = this.points.filter((point, i) => i % 2 === 0 || i > MAX_POINTS - 20);
		}
		// One poll shows no change over time, for example of a job that has ended.
		this.element.hidden = this.points.length < 3;
		if (!this.element.hidden) {
			this.draw();
		}
	}

	draw() {
		const last = this.points.at(-1);
		const max = roundUp(Math.max(...this.points.map(({ counts }) => OUTCOMES.reduce((sum, name) => sum + counts[name], 0))));
		const first = this.points[0].at;
		const x = (at) => ((at - first) / Math.max(1, last.at - first) * WIDTH).toFixed(1);
		const y = (value) => (HEIGHT - value / max * HEIGHT).toFixed(1);
		let below = this.points.map(() => 0);
		OUTCOMES.forEach((name, i) => {
			const above = below.map((sum, at) => sum + this.points[at].counts[name]);
			const line = (sums) => sums.map((sum, at) => `${x(this.points[at].at)},${y(sum)}`);
			this.areas[i].setAttribute('d', `M${line(above).join('L')}L${line(below).reverse().join('L')}Z`);
			below = above;
			this.legend[i].hidden = !this.points.some(({ counts }) => counts[name]);
		});
		this.top.textContent = number(max);
		this.middle.textContent = number(max / 2);
		this.from.textContent = first ? duration(first) : '0 s';
		this.to.textContent = duration(last.at);
		this.drawing.setAttribute('aria-label',
				`After ${duration(last.at)}: ${OUTCOMES.filter((name) => last.counts[name]).map((name) => `${number(last.counts[name])} ${name}`).join(', ')}`);
	}
}
