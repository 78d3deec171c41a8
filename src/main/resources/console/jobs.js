// The page Jobs: all jobs, live.

import { STATES, badge, isActive, nounOf, titleOf } from './jobwords.js';
import { isPreview } from './tab.js';
import { curl, shell } from './curl.js';
import { count, duration, h, notice, number, percent, pollWhileVisible, query, timestamp } from './page.js';
import { Problem, call, json } from './service.js';

const LIMIT = 100;

const POLL_MILLIS = 1000;

/** If no job is active, only other clients change the list. */
const IDLE_POLL_MILLIS = 3000;

export function pollDelay(jobs) {
	return jobs.some(({ state }) => isActive(state)) ? POLL_MILLIS : IDLE_POLL_MILLIS;
}

/** The most requests for one list. An instance knows a thousand ended jobs, of which a page may show none. */
const MAX_REQUESTS = 10;

/**
 * Fetches the wanted jobs, about as many as the limit allows.
 * @param parameters names and values, including the limit
 */
export async function fetchJobs(parameters, signal, isWanted = () => true) {
	const request = new Map(parameters);
	const limit = request.get('limit');
	const jobs = [];
	let found;
	let short = false;
	for (let i = 0; i < MAX_REQUESTS && (!found || found.next && (short || jobs.length === 0)); i++) {
		request.set('limit', limit - jobs.length);
		found = await json('GET', `v1/jobs?${query([...request])}`, { signal });
		// The service checks only a part of the jobs at once, and skips those of other clients.
		short = found.jobs.length < request.get('limit');
		jobs.push(...found.jobs.filter(isWanted));
		request.set('after', found.next);
	}
	return { ...found, jobs };
}

/** Whether the title or the ID of a job contains a text. If the text has * or ?, it is a pattern of the whole label, title or ID. */
function matches(status, wanted) {
	const pattern = /[*?]/.test(wanted) ? `^${wanted.replace(/[^\w\s*?]/g, '\\$&').replace(/\*+/g, '.*').replaceAll('?', '.')}$` : wanted.replace(/[^\w\s]/g, '\\$&');
	const expression = new RegExp(pattern, 'is');
	return [status.label ?? '', titleOf(status), status.jobId].some((text) => expression.test(text));
}

/** A table of jobs. It redraws changed cells only, because a full redraw would lose the focus or a click. */
export class JobTable {

	/**
	 * @param errorNotice shows why a job could not be cancelled
	 * @param onCancel is called after a request to cancel
	 */
	constructor(errorNotice, onCancel) {
		Object.assign(this, { errorNotice, onCancel });
		this.body = h('tbody');
		this.element = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Jobs', hidden: true }, h('table', { class: 'jobs' }, h('thead', {}, h('tr', {},
				['Job', 'State', 'Created', 'Duration', 'Records', 'Did not run', 'Progress', ''].map((title, i) => h('th', { scope: 'col', class: i >= 3 && i <= 5 ? 'number' : '' }, title || h('span', { class: 'unseen' }, 'Cancel'))))), this.body));
	}

	show(jobs) {
		const now = JSON.stringify(jobs);
		if (now !== this.shown) {
			this.shown = now;
			this.draw(jobs.map((status) => this.row(status)));
		}
		this.element.hidden = jobs.length === 0;
	}

	row(status) {
		const { counts, jobId, dryRun } = status;
		const now = status.progress;
		const active = isActive(status.state);
		const failed = counts ? (active || dryRun ? counts.rejected : counts.rejected + counts.unknown + counts.unprocessed) : 0;
		return h('tr', { 'data-job': jobId }, h('td', {}, h('a', { href: `#/jobs/${jobId}` }, titleOf(status))), h('td', {}, badge(status), dryRun ? h('span', { class: 'badge' }, 'dry run') : ''), h('td', {}, timestamp(status.createdMillis)),
				h('td', { class: 'number' }, duration(status.endedMillis ? status.endedMillis - status.createdMillis : now.elapsedMillis)),
				h('td', { class: 'number' }, counts ? number(counts.received) : count(now.done, nounOf(status))), h('td', { class: `number ${failed ? 'failed' : ''}` }, counts ? number(failed) : ''),
				h('td', {}, active ? [h('progress', { max: 1, ...(now.share === undefined ? {} : { value: now.share }), 'aria-label': 'Progress' }),
					h('small', {}, [now.share === undefined ? null : percent(now.share), now.leftMillis === undefined ? null : `${duration(now.leftMillis)} left`].filter((word) => word).join(', '))] : ''),
				h('td', {}, active ? h('button', { type: 'button', class: 'quiet', 'aria-label': `Cancel ${titleOf(status)}`, onclick: () => this.cancel(jobId) }, 'Cancel') : ''));
	}

	draw(rows) {
		const known = new Map([...this.body.rows].map((row) => [row.dataset.job, row]));
		rows.forEach((row, i) => {
			const before = known.get(row.dataset.job);
			if (before) {
				[...row.cells].forEach((cell, at) => {
					if (cell.outerHTML !== before.cells[at].outerHTML) {
						before.cells[at].replaceWith(cell);
					}
				});
			}
			const now = before ?? row;
			known.delete(row.dataset.job);
			if (this.body.rows[i] !== now) {
				this.body.insertBefore(now, this.body.rows[i] ?? null);
			}
		});
		known.forEach((row) => row.remove());
	}

	async cancel(id) {
		try {
			await call('DELETE', `v1/jobs/${id}`);
			this.errorNotice.setText();
		}
		catch (error) {
			if (!(error instanceof Problem)) {
				throw error;
			}
			this.errorNotice.setText(error.message);
		}
		this.onCancel();
	}

}

export async function jobs(main, page) {
	let state = '';
	let cursors = [];
	const errorNotice = notice();
	const select = h('select', { id: 'state', onchange: () => {
		state = select.value;
		cursors = [];
		older.hidden = true;
		refresh();
	} }, h('option', { value: '' }, 'any'), STATES.map((name) => h('option', { value: name }, name)));
	const filter = h('input', { type: 'search', id: 'filter', spellcheck: 'false', autocomplete: 'off', placeholder: 'products, or nightly-*', oninput: () => showListed() });
	const filtered = h('span', { class: 'hint', role: 'status' });
	const table = new JobTable(errorNotice, () => refresh());
	const none = h('div', { class: 'empty', hidden: true });
	const newer = h('button', { type: 'button', hidden: true, onclick: () => {
		cursors.pop();
		refresh();
	} }, 'Newer');
	const older = h('button', { type: 'button', hidden: true }, 'Older');
	const line = shell('');
	main.append(h('h1', {}, 'Jobs'), h('p', { class: 'actions' }, h('label', { for: 'state' }, 'State'), select, h('label', { for: 'filter' }, 'Label or ID'), filter, filtered), errorNotice, none, table.element, h('p', { class: 'actions' }, newer, older),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line));

	let listed = [];

	/** Shows the listed jobs that match the filter. The service has no such filter. */
	function showListed() {
		const wanted = filter.value.trim();
		const matching = listed.filter((status) => matches(status, wanted));
		table.show(matching);
		filtered.textContent = wanted && listed.length ? `${number(matching.length)} of the ${number(listed.length)} loaded ${matching.length === 1 ? 'matches' : 'match'}` : '';
	}

	const refresh = pollWhileVisible(page, async (signal) => {
		const cursor = cursors.at(-1);
		const parameters = [['state', state], ['limit', LIMIT], ['after', cursor]].filter(([, value]) => value);
		line.setText(curl(`v1/jobs?${query(parameters)}`));
		try {
			const found = await fetchJobs(parameters, signal, (status) => !isPreview(status));
			listed = found.jobs;
			showListed();
			none.hidden = found.jobs.length > 0;
			none.replaceChildren(...(found.next ? [h('p', {}, 'No job found yet. There are older jobs.')]
				: state || cursors.length ? [h('p', {}, state ? `No job is ${state}.` : 'There are no older jobs.')]
				: [h('p', {}, h('strong', {}, 'There are no jobs yet.')), h('p', {}, 'A job is a load, a pop, a sweep, an analysis or a tuning. ', h('a', { href: '#/load' }, 'Load a file'), ', and its job appears here.')]));
			newer.hidden = cursors.length === 0;
			older.hidden = !found.next;
			older.onclick = () => {
				// Ignore a second click before the answer to the first.
				if (cursors.at(-1) === cursor) {
					cursors.push(found.next);
					refresh();
				}
			};
			for (const warning of found.warnings ?? []) {
				errorNotice.setText(warning.detail);
			}
			return pollDelay(found.jobs);
		}
		catch (error) {
			if (!(error instanceof Problem) && !signal.aborted) {
				throw error;
			}
			errorNotice.setText(signal.aborted ? '' : error.message);
			return IDLE_POLL_MILLIS;
		}
	});

	await refresh();
}
