// A treemap: shares as rectangles, which are links.

import { svg } from './page.js';
import { truncate } from './prefixes.js';

/** The least mean area of a rectangle, in square pixels. Smaller ones look alike. */
const MIN_MEAN_AREA = 1500;
const MIN_BLOCKS = 20;
const MAX_BLOCKS = 150;
const CHARACTER_WIDTH = 7.4;
const PADDING = 8;

/** Divides a rectangle by descending weights into parts that are nearly square (Bruls, Huizing and van Wijk). */
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
			if (ratio > worst) break;
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
		} else {
			y += across;
			height -= across;
		}
	}
	return rectangles;
}

export class Treemap {
	constructor(label) {
		this.blocks = [];
		this.drawing = svg('svg', { class: 'treemap', role: 'group', 'aria-label': label, onkeydown: (event) => this.moveFocus(event) });
		new ResizeObserver(() => this.draw()).observe(this.drawing);
	}

	/**
	 * @param blocks each with its name, weight, words, class and optional href
	 * @param merge turns the blocks that exceed the limit into one block; it returns undefined if there are none
	 */
	show(blocks, merge) {
		this.blocks = blocks.filter(({ weight }) => weight > 0).sort((one, other) => other.weight - one.weight);
		this.merge = merge;
		this.size = undefined;
		this.draw();
	}

	/** The most blocks that the picture shows one by one. */
	maxBlocks() {
		return Math.min(MAX_BLOCKS, Math.max(MIN_BLOCKS, Math.floor(this.drawing.clientWidth * this.drawing.clientHeight / MIN_MEAN_AREA)));
	}

	draw() {
		const { clientWidth: width, clientHeight: height } = this.drawing;
		if (!width || !height || this.size === `${width} ${height}`) return;
		this.size = `${width} ${height}`;
		const rest = this.blocks.slice(this.maxBlocks());
		const drawn = this.blocks.slice(0, this.maxBlocks());
		const merged = this.merge(rest);
		if (merged) {
			drawn.push(merged);
			drawn.sort((one, other) => other.weight - one.weight);
		}
		this.drawing.setAttribute('viewBox', `0 0 ${width} ${height}`);
		this.drawing.replaceChildren(...squarify(drawn.map(({ weight }) => weight), width, height).map((rectangle, i) => block(drawn[i], rectangle)));
		this.drawing.querySelector('a')?.setAttribute('tabindex', 0);
	}

	/** Moves the focus by the arrow keys, because the Tab key stops at one block only. */
	moveFocus(event) {
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
	const [innerWidth, innerHeight] = [gap(width), gap(height)];
	const maxCharacters = Math.floor((innerWidth - 2 * PADDING) / CHARACTER_WIDTH);
	const label = (text, line) => (maxCharacters >= 3 && innerHeight >= line + 6) ? [svg('text', { x: PADDING, y: line, class: (line > 20) ? 'words' : 'name' }, truncate(text, maxCharacters))] : [];
	return svg(href ? 'a' : 'g', { class: `block ${kind}`, 'aria-label': `${name}, ${words}`, ...href ? { href, tabindex: -1 } : { role: 'img' } },
			svg('title', {}, `${name}\n${words}`),
			svg('rect', { x: x + 1, y: y + 1, width: innerWidth, height: innerHeight, rx: Math.min(3, innerWidth / 2, innerHeight / 2) }),
			svg('svg', { x: x + 1, y: y + 1, width: innerWidth, height: innerHeight }, label(name, 19), label(words, 37)));
}
