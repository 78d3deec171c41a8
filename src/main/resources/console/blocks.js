// The prefixes below a prefix, as a treemap and a table.

import { MAX_CHARACTERS, hrefOf } from './analyses.js';
import { bytes, count, h, number, percent, section } from './page.js';
import { displayName, truncate } from './prefixes.js';
import { VirtualTable } from './rows.js';
import { rail } from './totals.js';
import { Treemap } from './treemap.js';

/** What the blocks measure, and how the table is sorted, on all levels. */
const view = { measure: 'bytes', column: 'Share', ascending: false };
const collator = new Intl.Collator('en', { numeric: true });

function typesIn({ types, keys }) {
	const sorted = [...types].sort((one, other) => other[1] - one[1]);
	return (sorted.length === 1) ? sorted[0][0] : sorted.map(([type, some]) => `${type} ${percent(some / keys)}`).join(', ');
}

export class Prefixes {
	map = new Treemap('Prefixes; the table below has the same data');
	restNote = h('span');
	restLevel = h('span', { class: 'rest' }, 'no prefix, or several');
	areaNote = h('span');

	constructor(id, node, hasMemory) {
		Object.assign(this, { id, node, hasMemory, listed: node.children.filter(({ name }) => name !== undefined).length });
		this.columns = this.columnsOfTable();
		this.table = new VirtualTable('Prefixes', this.columns.map((column) => ({ ...column, title: h('button', { type: 'button', class: 'sort', onclick: () => this.sortBy(column.title) }, column.title) })));
		this.element = section('prefixes', '', h('p', { class: 'hint' }, 'Choose a prefix to see its details, delete its keys or let them expire.'), this.map.drawing,
				h('p', { class: 'levels hint' }, this.areaNote, 'Colour: keys that never expire, in percent of its keys',
						[0, 1, 2, 3, 4].map((level) => h('span', { class: `level-${level}` }, level < 4 ? `${level * 20} to under ${level * 20 + 20} %` : '80 to 100 %')),
						this.restLevel, this.restNote), this.table.element);
		const title = this.element.firstChild;
		title.textContent = (this.listed === 1) ? '1 prefix' : `${number(this.listed)} prefixes`;
		this.element.prepend(h('div', { class: 'title' }, title, hasMemory ? h('fieldset', { class: 'measure' }, h('legend', { class: 'unseen' }, 'Size of a block'), this.radio('bytes', 'by memory'), this.radio('keys', 'by keys')) : ''));
		this.draw();
	}

	radio(value, label) {
		return h('label', {}, h('input', { type: 'radio', name: 'measure', value, checked: view.measure === value, onchange: () => {
			view.measure = value;
			this.draw();
		} }), ` ${label}`);
	}

	get measure() {
		return this.hasMemory ? view.measure : 'keys';
	}

	share(child) {
		return child[this.measure] / this.node[this.measure];
	}

	words(weight) {
		return `${this.measure === 'bytes' ? bytes(weight) : count(weight, 'key')} · ${percent(weight / this.node[this.measure])}`;
	}

	/** The name of a prefix without that of its parent. */
	relativeName({ name, label }) {
		return (name === undefined) ? label : displayName(name.startsWith(this.node.name) ? name.substring(this.node.name.length) : name);
	}

	columnsOfTable() {
		const ofMemory = (...columns) => this.hasMemory ? columns : [];
		const numbers = (title, by, format) => ({ title, kind: 'number', by, cell: (child) => format(by(child)) });
		return [
			{ title: 'Prefix', kind: 'wide', by: (child) => this.relativeName(child), cell: (child) => child.name ? h('a', { class: 'name', href: hrefOf(this.id, child.name) }, truncate(this.relativeName(child), MAX_CHARACTERS)) : h('span', { class: 'hint' }, child.label) },
			{ title: 'Share', kind: 'share', by: (child) => this.share(child), cell: (child) => h('span', {}, rail(this.share(child)), percent(this.share(child))) },
			...ofMemory(numbers('Memory', (child) => child.bytes, bytes)),
			numbers('Keys', (child) => child.keys, number),
			...ofMemory(numbers('Mean', (child) => child.bytes / child.keys, bytes)),
			numbers('Never expire', (child) => child.withoutTtl, number),
			{ title: 'Types', kind: 'narrow', by: typesIn, cell: typesIn },
		];
	}

	draw() {
		this.areaNote.textContent = `Area: ${this.measure === 'bytes' ? 'memory in bytes' : 'number of keys'}`;
		this.map.show(this.node.children.map((child) => this.block(child)), (rest) => this.merge(rest));
		this.drawTable();
	}

	block(child) {
		const weight = child[this.measure];
		return { name: this.relativeName(child), weight, words: this.words(weight), href: child.name && hrefOf(this.id, child.name),
			kind: child.name ? `level-${Math.min(4, Math.floor(child.withoutTtl / child.keys * 5))}` : 'rest' };
	}

	/** The block of all prefixes that are too small for one of their own. */
	merge(rest) {
		this.restLevel.hidden = rest.length === 0 && this.node.children.length === this.listed;
		this.restNote.textContent = rest.length ? `The ${number(rest.length)} smallest are drawn as one block. The table lists each of them.` : '';
		const weight = rest.reduce((sum, block) => sum + block.weight, 0);
		return weight ? { name: `${number(rest.length)} more`, weight, words: this.words(weight), kind: 'rest' } : undefined;
	}

	sortBy(title) {
		view.ascending = (view.column === title) ? !view.ascending : title === 'Prefix' || title === 'Types';
		view.column = title;
		this.drawTable();
	}

	drawTable() {
		const sorted = this.columns.find(({ title }) => title === view.column) ?? this.columns[1];
		[...this.table.table.tHead.rows[0].cells].forEach((head, i) => head.setAttribute('aria-sort', (this.columns[i] !== sorted) ? 'none' : view.ascending ? 'ascending' : 'descending'));
		const direction = view.ascending ? 1 : -1;
		this.table.show(this.node.children.map((child) => [sorted.by(child), child])
			.sort(([one], [other]) => direction * ((typeof one === 'string') ? collator.compare(one, other) : one - other)).map(([, child]) => child));
	}
}
