// The page Jobs: all jobs, live.

import { curl, curlLines, shell } from './curl.js';
import { JobTable, fetchJobs, pollDelay } from './jobtable.js';
import { STATES, titleOf } from './jobwords.js';
import { h, notice, number, pollWhileVisible, query } from './page.js';
import { isPreview } from './tab.js';

const LIMIT = 100;

/** Whether the title or the ID of a job contains a text. If the text has * or ?, it is a pattern of the whole label, title or ID. */
function matches(status, wanted) {
	const pattern = /[*?]/.test(wanted) ? `^${wanted.replace(/[^\w\s*?]/g, '\\$&').replace(/\*+/g, '.*').replaceAll('?', '.')}$` : wanted.replace(/[^\w\s]/g, '\\$&');
	const expression = new RegExp(pattern, 'is');
	return [status.label ?? '', titleOf(status), status.jobId].some((text) => expression.test(text));
}

export async function jobs(main, page) {
	await new JobsView(main, page).refresh();
}

class JobsView {
	/** The ends of the newer pages of the list. */
	cursors = [];
	listed = [];
	errors = notice();
	state = h('select', { id: 'state', onchange: () => {
		this.cursors = [];
		this.errors.setText();
		this.older.hidden = true;
		this.refresh();
	} }, h('option', { value: '' }, 'any'), STATES.map((name) => h('option', { value: name }, name)));
	filter = h('input', { type: 'search', id: 'filter', spellcheck: 'false', autocomplete: 'off', placeholder: 'products, or nightly-*', oninput: () => this.show() });
	filtered = h('span', { class: 'hint', role: 'status' });
	table = new JobTable(this.errors, () => this.refresh());
	none = h('div', { class: 'empty', hidden: true });
	newer = h('button', { type: 'button', hidden: true, onclick: () => {
		this.cursors.pop();
		this.refresh();
	} }, 'Newer');
	older = h('button', { type: 'button', hidden: true }, 'Older');
	line = shell('');

	constructor(main, page) {
		this.refresh = pollWhileVisible(page, (signal) => this.poll(signal), ({ message }) => this.errors.setText(message));
		main.append(h('h1', {}, 'Jobs'), h('p', { class: 'actions' }, h('label', { for: 'state' }, 'State'), this.state, h('label', { for: 'filter' }, 'Label or ID'), this.filter, this.filtered),
				this.errors, this.none, this.table.element, h('p', { class: 'actions' }, this.newer, this.older), curlLines(this.line));
	}

	/** Shows the listed jobs that match the filter. The service has no such filter. */
	show() {
		const wanted = this.filter.value.trim();
		const matching = this.listed.filter((status) => matches(status, wanted));
		this.table.show(matching);
		this.filtered.textContent = wanted && this.listed.length ? `${number(matching.length)} of the ${number(this.listed.length)} loaded ${matching.length === 1 ? 'matches' : 'match'}` : '';
	}

	async poll(signal) {
		const cursor = this.cursors.at(-1);
		const parameters = [['state', this.state.value], ['limit', LIMIT], ['after', cursor]].filter(([, value]) => value);
		this.line.setText(curl(`v1/jobs?${query(parameters)}`));
		const found = await fetchJobs(parameters, signal, (status) => !isPreview(status));
		this.showPage(found, cursor);
		return pollDelay(found.jobs);
	}

	showPage({ jobs: listed, next, warnings = [] }, cursor) {
		this.listed = listed;
		this.show();
		this.none.hidden = listed.length > 0;
		this.none.replaceChildren(...this.noneWords(next));
		this.newer.hidden = this.cursors.length === 0;
		this.older.hidden = !next;
		this.older.onclick = () => {
			// Ignore a second click before the answer to the first.
			if (this.cursors.at(-1) === cursor) {
				this.cursors.push(next);
				this.refresh();
			}
		};
		warnings.forEach(({ detail }) => this.errors.setText(detail));
	}

	noneWords(next) {
		const state = this.state.value;
		if (next || state || this.cursors.length) {
			return [h('p', {}, next ? 'No job found yet. There are older jobs.' : state ? `No job is ${state}.` : 'There are no older jobs.')];
		}
		return [h('p', {}, h('strong', {}, 'There are no jobs yet.')), h('p', {}, 'A job is a load, a pop, a sweep, an analysis or a tuning. ', h('a', { href: '#/load' }, 'Load a file'), ', and its job appears here.')];
	}
}
