// Records that the service fetches itself, from a URL or a query: what it offers, and the first records.

import { bound, choice, formatSection } from './fields.js';
import { URL_FORMATS, nameOf, typeOf } from './mapping.js';
import { announce, attempt, field, h, query } from './page.js';
import { FORMATS, isData, isRows, sampleOfRows } from './sample.js';
import { json } from './service.js';
import { PREVIEW, PREVIEW_RECORDS, saveLoad } from './tab.js';

let offered;

/** The part of the page Load that selects a source and reads its first records. */
export class SourceForm {
	reading = new AbortController();
	kinds = h('fieldset', { class: 'kinds', hidden: true });
	form = h('form', { hidden: true, onsubmit: (event) => {
		event.preventDefault();
		this.read();
	} });
	waiting = h('p', { class: 'actions', hidden: true }, h('span', {}, 'The service reads the first records.'), h('button', { type: 'button', onclick: () => {
		this.reading.abort();
		announce('Stopped');
	} }, 'Stop'));

	constructor(view) {
		Object.assign(this, { view, mapping: view.mapping, state: view.state });
		view.page.addEventListener('abort', () => this.reading.abort());
	}

	/** Offers URLs and queries in addition to files, if the caller may use any. */
	async offer() {
		offered ??= await attempt({ setText: () => {} }, this.view.page, () => json('GET', 'v1/sources', { signal: this.view.page }));
		if (!offered) return;
		this.mapping.queries = offered.queries;
		const found = [['', 'A file'], ...offered.urls.length ? [['url', 'A URL']] : [], ...offered.queries.length ? [['query', 'A query']] : []];
		if (found.length === 1) return;
		this.kinds.hidden = false;
		this.kinds.replaceChildren(h('legend', { class: 'unseen' }, 'Where the records are'), ...found.map(([value, label]) =>
			h('label', {}, h('input', { type: 'radio', name: 'kind', value, checked: value === (this.state.kind ?? ''), onchange: () => this.view.chooseKind(value) }), ` ${label}`)));
		this.show();
	}

	show() {
		const { kind } = this.state;
		this.form.hidden = !kind;
		this.view.chooser.element.hidden = Boolean(kind);
		this.form.replaceChildren(...kind ? [h('div', { class: 'fields' }, kind === 'url' ? this.urlFields() : this.queryFields()),
			h('p', { class: 'actions' }, h('button', { id: 'read' }, 'Read the first records'), h('span', { class: 'hint' }, 'Nothing is written until you load it.'))] : []);
	}

	urlFields() {
		const { urls } = offered;
		const formats = [['', 'by its type or name'], ...Object.entries(URL_FORMATS).map(([name, type]) => [name, FORMATS[type]])];
		return [field('url', 'URL', bound(this.view, 'url', h('input', { type: 'url', spellcheck: 'false', autocomplete: 'off', required: true })),
				(urls.length === 1) ? `begins with ${urls[0]}` : `begins with one of ${urls.join(', ')}`),
		field('format', 'Format', choice(this.view, 'format', formats, () => this.view.refresh()))];
	}

	queryFields() {
		const { state, view } = this;
		const names = offered.queries.map(({ name }) => name);
		if (!names.includes(state.source)) {
			state.source = names[0];
		}
		state.values ??= {};
		return [field('source', 'Query', choice(view, 'source', names.map((name) => [name, name]), () => {
			view.leave();
			delete state.rows;
			this.show();
			document.getElementById('field-source').focus();
		})), ...this.mapping.queryParameters().map((name) => field(`param-${name}`, name, h('input', { spellcheck: 'false', value: state.values[name] ?? '', oninput: (event) => {
			state.values[name] = event.target.value;
			view.refresh();
		} })))];
	}

	/** Reads the first rows as JSON, for the names of their columns, and then shows them as commands. */
	async read() {
		const { view, mapping, state } = this;
		const choice = ++view.choices;
		view.errors.setText();
		announce('The service reads the first records.');
		const readOf = JSON.stringify([state.kind, state.source, nameOf(state), state.format]);
		if (state.readOf !== readOf) {
			const type = (state.kind === 'query') ? 'application/x-ndjson' : typeOf(state);
			Object.assign(state, { type, delimiter: ',', header: true, names: '', touched: false, readOf: undefined });
			view.hide();
		}
		const rows = (!state.type || isData(state.type)) ? await this.readRows(choice, readOf) : [];
		if (!rows) return;
		// The cells of CSV and TSV are strings.
		state.type ??= rows.every((row) => Object.values(JSON.parse(row)).every((value) => typeof value === 'string')) ? 'text/csv' : 'application/x-ndjson';
		Object.assign(state, { rows, name: nameOf(state) });
		mapping.sample = sampleOfRows(rows);
		const mappingOf = readOf + (state.header ? '' : state.names);
		if (!(state.touched && state.mappingOf === mappingOf)) {
			mapping.guess();
			state.touched = false;
		}
		Object.assign(state, { readOf, mappingOf });
		saveLoad(state);
		view.show();
		view.preview.refresh();
	}

	/** The first rows as JSON; undefined if there are none, or if the user has made another choice. */
	async readRows(choice, readOf) {
		const { view, mapping, state } = this;
		const report = await this.dryRun([...mapping.readParameters(), ['op', 'SET'], ['key', 'row:{@index}'], ['value', '{*}']], view.errors);
		if (!report || choice !== view.choices) return undefined;
		if (view.errors.hidden) {
			// A row that the service refuses as a SET may be right as another command.
			return report.items.slice(0, PREVIEW_RECORDS).filter(({ command }) => command).map(({ command }) => command[2]);
		}
		if (isRows(state.type)) {
			// The separator or the header may be the reason.
			state.readOf = readOf;
			mapping.columns = [];
			view.body.hidden = false;
			view.body.replaceChildren(formatSection(view));
		}
		return undefined;
	}

	/**
	 * Has the service read the first records in a dry run. It ends, and its query with it, when the page leaves.
	 * @returns the report, whose items are the first records; undefined if there is none
	 */
	async dryRun(parameters, errors) {
		this.reading.abort();
		const reading = this.reading = new AbortController();
		this.waiting.hidden = false;
		let refused;
		const report = await attempt(errors, reading.signal, () => json('POST', `v1/jobs?${query([...parameters, ...PREVIEW, ['limit', PREVIEW_RECORDS]])}`, { signal: reading.signal }), (problem) => refused = problem.job);
		if (report) {
			errors.setText((report.state === 'failed' || report.state === 'stopped') ? report.ending?.detail : '');
		}
		if (reading === this.reading) {
			this.waiting.hidden = true;
		}
		return report ?? refused;
	}
}
