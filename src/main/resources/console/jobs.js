// Jobs: all that there are, live.

import { STATES, badge, isActive, nounOf, titleOf } from './job.js';
import { isPreview } from './load.js';
import { again, count, curl, duration, h, moment, notice, number, percent, query, shell } from './page.js';
import { Problem, address, call, isKeyed, json } from './service.js';

const LIMIT = 100;

const LOOK_MILLIS = 1000;

/** Where nothing runs, nothing changes but by somebody else. */
const IDLE_MILLIS = 3000;

/** How long to wait before jobs are looked at again. */
export function pauseAfter(jobs) {
	return jobs.some(({ state }) => isActive(state)) ? LOOK_MILLIS : IDLE_MILLIS;
}

/** The pages that are short, or without any job that is wanted, behind which one looks on: an instance knows a thousand jobs that have ended. */
const MOST_PAGES = 10;

/**
 * As many jobs as the limit says, or nearly so: those that are not wanted are left out.
 * @param parameters names and values, with a limit
 */
export async function listed(parameters, signal, isWanted = () => true) {
	const asked = new Map(parameters);
	const limit = asked.get('limit');
	const jobs = [];
	let found;
	let short = false;
	for (let i = 0; i < MOST_PAGES && (!found || found.next && (short || jobs.length === 0)); i++) {
		asked.set('limit', limit - jobs.length);
		found = await json('GET', `v1/jobs?${query([...asked])}`, { signal });
		// Between the jobs of others, the service looks at a part of them only.
		short = found.jobs.length < asked.get('limit');
		jobs.push(...found.jobs.filter(isWanted));
		asked.set('after', found.next);
	}
	return { ...found, jobs };
}

/** A table of jobs, which changes what has changed, so that nobody's focus or click is lost. */
export class JobTable {

	/**
	 * Shows no job yet.
	 * @param mistaken says why a job could not be cancelled
	 * @param cancelled is called when one was
	 */
	constructor(mistaken, cancelled) {
		Object.assign(this, { mistaken, cancelled });
		this.body = h('tbody');
		this.element = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Jobs', hidden: true }, h('table', { class: 'jobs' }, h('thead', {}, h('tr', {},
				['Job', 'State', 'Asked for', 'Took', 'Records', 'Did not run', 'Progress', ''].map((title, i) => h('th', { scope: 'col', class: i >= 3 && i <= 5 ? 'number' : '' }, title || h('span', { class: 'unseen' }, 'Cancel'))))), this.body));
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
		return h('tr', { 'data-job': jobId }, h('td', {}, h('a', { href: `#/jobs/${jobId}` }, titleOf(status))), h('td', {}, badge(status.state), dryRun ? h('span', { class: 'badge' }, 'dry run') : ''), h('td', {}, moment(status.createdMillis)),
				h('td', { class: 'number' }, duration(status.endedMillis ? status.endedMillis - status.createdMillis : now.elapsedMillis)),
				h('td', { class: 'number' }, counts ? number(counts.received) : count(now.done, nounOf(status))), h('td', { class: `number ${failed ? 'failed' : ''}` }, counts ? number(failed) : ''),
				h('td', {}, active ? [h('progress', { max: 1, ...(now.share === undefined ? {} : { value: now.share }), 'aria-label': 'The share that is done' }),
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
			this.mistaken.say();
		}
		catch (error) {
			if (!(error instanceof Problem)) {
				throw error;
			}
			this.mistaken.say(error.message);
		}
		this.cancelled();
	}

}

export async function jobs(main, page) {
	let state = '';
	let after = [];
	const mistaken = notice();
	const select = h('select', { id: 'state', onchange: () => {
		state = select.value;
		after = [];
		older.hidden = true;
		look();
	} }, h('option', { value: '' }, 'any'), Object.keys(STATES).map((name) => h('option', { value: name }, STATES[name])));
	const table = new JobTable(mistaken, () => look());
	const none = h('div', { class: 'empty', hidden: true });
	const newer = h('button', { type: 'button', hidden: true, onclick: () => {
		after.pop();
		look();
	} }, 'Newer');
	const older = h('button', { type: 'button', hidden: true }, 'Older');
	const line = shell('');
	main.append(h('h1', {}, 'Jobs'), h('p', { class: 'actions' }, h('label', { for: 'state' }, 'State'), select), mistaken, none, table.element, h('p', { class: 'actions' }, newer, older),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line));

	const look = again(page, async (signal) => {
		const behind = after.at(-1);
		const parameters = [['state', state], ['limit', LIMIT], ['after', behind]].filter(([, value]) => value);
		line.say(curl({ method: 'GET', url: address(`v1/jobs?${query(parameters)}`), keyed: isKeyed() }));
		try {
			const found = await listed(parameters, signal, (status) => !isPreview(status));
			table.show(found.jobs);
			none.hidden = found.jobs.length > 0;
			none.replaceChildren(...(found.next ? [h('p', {}, 'None was found yet; there are older jobs.')]
				: state || after.length ? [h('p', {}, state ? `No job ${STATES[state]}.` : 'There are no older jobs.')]
				: [h('p', {}, h('strong', {}, 'There are no jobs yet.')), h('p', {}, 'A job is a load, a pop, a sweep, an analysis or a tuning. ', h('a', { href: '#/load' }, 'Load a file'), ', and it stands here.')]));
			newer.hidden = after.length === 0;
			older.hidden = !found.next;
			older.onclick = () => {
				// Another click may have come before the answer to this one.
				if (after.at(-1) === behind) {
					after.push(found.next);
					look();
				}
			};
			for (const warning of found.warnings ?? []) {
				mistaken.say(warning.detail);
			}
			return pauseAfter(found.jobs);
		}
		catch (error) {
			if (!(error instanceof Problem) && !signal.aborted) {
				throw error;
			}
			mistaken.say(signal.aborted ? '' : error.message);
			return IDLE_MILLIS;
		}
	});

	await look();
}
