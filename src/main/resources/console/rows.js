// A table of any length, which has elements for the visible rows only.

import { h } from './page.js';

const ROW_HEIGHT = 34;
const SPARE_ROWS = 10;

export class VirtualTable {
	/**
	 * @param columns each with its title, its class and a function that returns the content of a cell
	 * @param choose is called with a row that was clicked
	 */
	constructor(label, columns, choose = () => {}) {
		Object.assign(this, { columns, choose });
		this.rows = [];
		this.body = h('tbody');
		this.table = h('table', {}, h('thead', {}, h('tr', {}, columns.map(({ title, kind }) => h('th', { scope: 'col', class: kind }, title)))), this.body);
		this.element = h('div', { class: 'scroll windowed', tabindex: 0, role: 'region', 'aria-label': label, onscroll: () => this.draw() }, this.table);
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	show(rows) {
		this.rows = rows;
		this.table.setAttribute('aria-rowcount', rows.length + 1);
		this.first = undefined;
		this.draw();
	}

	draw() {
		const visible = Math.ceil((this.element.clientHeight || 400) / ROW_HEIGHT) + 2 * SPARE_ROWS;
		const first = Math.max(0, Math.min(Math.floor(this.element.scrollTop / ROW_HEIGHT) - SPARE_ROWS, this.rows.length - visible));
		const last = Math.min(this.rows.length, first + visible);
		if (this.first === first && this.last === last) return;
		Object.assign(this, { first, last });
		const space = (rows) => {
			const cell = h('td', { colspan: this.columns.length });
			cell.style.height = `${rows * ROW_HEIGHT}px`;
			return rows > 0 ? h('tr', { class: 'space', 'aria-hidden': 'true' }, cell) : [];
		};
		this.body.replaceChildren(...[space(first), ...this.rows.slice(first, last).map((row, i) => h('tr', { 'aria-rowindex': first + i + 2, onclick: () => this.choose(row) },
				this.columns.map(({ kind, cell }) => h('td', { class: kind }, cell(row))))), space(this.rows.length - last)].flat());
	}
}
