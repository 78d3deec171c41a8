// Shares as rectangles, which are links.

import { svg } from './chart.js';
import { cut } from './prefixes.js';

/** The part of the picture that a rectangle has at least in the mean, in square pixels, so that one can tell them apart. */
const LEAST_AREA = 1500;

const MOST = 150;

/** The width of a letter of a label, about. */
const LETTER = 7.4;

const PADDING = 8;

/** Divides a rectangle by weights, the largest first, into ones as square as can be (Bruls, Huizing and van Wijk). */
function squarify(weights, width, height) {
	const scale = width * height / weights.reduce((sum, weight) => sum + weight, 0);
	const rectangles = [];
	let [x, y] = [0, 0];
	for (let from = 0; from < weights.length;) {
		const side = Math.min(width, height);
		let area = 0;
		let worst = Infinity;
		let to = from;
		for (; to < weights.length; to++) {
			const next = area + weights[to] * scale;
			const ratio = Math.max(side * side * weights[from] * scale / (next * next), next * next / (side * side * weights[to] * scale));
			if (ratio > worst) {
				break;
			}
			[area, worst] = [next, ratio];
		}
		const across = area / side;
		let along = 0;
		for (; from < to; from++) {
			const length = weights[from] * scale / across;
			rectangles.push((side === height) ? { x, y: y + along, width: across, height: length } : { x: x + along, y, width: length, height: across });
			along += length;
		}
		if (side === height) {
			x += across;
			width -= across;
		}
		else {
			y += across;
			height -= across;
		}
	}
	return rectangles;
}

export class Treemap {

	constructor(label) {
		this.blocks = [];
		this.drawing = svg('svg', { class: 'treemap', role: 'group', 'aria-label': label });
		this.drawing.addEventListener('keydown', (event) => this.move(event));
		new ResizeObserver(() => this.draw()).observe(this.drawing);
	}

	/**
	 * Shows blocks: each with its name, weight, words, class, and the href behind it, if there is one.
	 * @param more is told of the blocks that are too many to be drawn, and makes one of them, if there are any
	 */
	show(blocks, more) {
		this.blocks = blocks.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
		this.more = more;
		this.size = undefined;
		this.draw();
	}

	/** How many blocks stand in the picture by themselves. */
	most() {
		return Math.min(MOST, Math.max(20, Math.floor(this.drawing.clientWidth * this.drawing.clientHeight / LEAST_AREA)));
	}

	draw() {
		const { clientWidth: width, clientHeight: height } = this.drawing;
		if (!width || !height || this.size === `${width} ${height}`) {
			return;
		}
		this.size = `${width} ${height}`;
		const rest = this.blocks.slice(this.most());
		const drawn = this.blocks.slice(0, this.most());
		const all = this.more(rest);
		if (all) {
			drawn.push(all);
			drawn.sort((one, other) => other.weight - one.weight);
		}
		this.drawing.setAttribute('viewBox', `0 0 ${width} ${height}`);
		this.drawing.replaceChildren(...squarify(drawn.map(({ weight }) => weight), width, height).map((rectangle, i) => block(drawn[i], rectangle)));
		this.drawing.querySelector('a')?.setAttribute('tabindex', 0);
	}

	/** The blocks are one stop of the tabulator; the arrows go from one to the next. */
	move(event) {
		const links = [...this.drawing.querySelectorAll('a')];
		const at = links.indexOf(document.activeElement);
		const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
		if (at >= 0 && links[to]) {
			event.preventDefault();
			links[at].setAttribute('tabindex', -1);
			links[to].setAttribute('tabindex', 0);
			links[to].focus();
		}
	}

}

function block({ name, words, kind, href }, { x, y, width, height }) {
	const gap = (size) => Math.max(0.5, size - 2);
	const [inner, tall] = [gap(width), gap(height)];
	const letters = Math.floor((inner - 2 * PADDING) / LETTER);
	const label = (text, line) => (letters >= 3 && tall >= line + 6) ? [svg('text', { x: PADDING, y: line, class: (line > 20) ? 'words' : 'name' }, cut(text, letters))] : [];
	return svg(href ? 'a' : 'g', { class: `block ${kind}`, 'aria-label': `${name}, ${words}`, ...(href ? { href, tabindex: -1 } : { role: 'img' }) },
			svg('title', {}, `${name}\n${words}`),
			svg('rect', { x: x + 1, y: y + 1, width: inner, height: tall, rx: Math.min(3, inner / 2, tall / 2) }),
			svg('svg', { x: x + 1, y: y + 1, width: inner, height: tall }, ...label(name, 19), ...label(words, 37)));
}
