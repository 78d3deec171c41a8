// The page of a job: its progress while it is active, and its report when it has ended.

import { Chart, OUTCOMES } from './chart.js';
import { JobControls } from './controls.js';
import { badge, isActive, nounOf, titleOf } from './jobwords.js';
import { announce, attempt, count, duration, h, notice, number, percent, tile, timestamp } from './page.js';
import { jobResult } from './result.js';
import { follow, json } from './service.js';

/** The report of an active job is fetched this often. Its events have no settings and no timings. */
const REPORT_MILLIS = 1000;
const MEANINGS = {
	applied: 'Redis ran it',
	noop: 'Redis ran it, but there was nothing to do',
	rejected: 'refused, so data did not change',
	unknown: 'it may have run',
	unprocessed: 'it did not run',
};

const COMPARED = {
	same: 'Redis has it',
	different: 'Redis has something else',
	missing: 'the key is not there',
	superseded: 'a later record wrote over it',
	incomparable: 'it leaves nothing to compare',
};

/** The outcomes in the order of the tiles. */
const TILES = [...OUTCOMES.filter((name) => name !== 'rejected'), 'rejected'];

export async function job(main, page, id) {
	await new JobView(main, page, id).run();
}

function outcomeTile(name, { counts, dryRun }, active) {
	const isInFlight = name === 'unknown' && active;
	const word = isInFlight ? 'in flight' : (name === 'unprocessed' && dryRun) ? 'would run' : name;
	return tile(word, number(counts[name]), isInFlight ? 'sent, but not answered yet' : MEANINGS[name], `outcome ${name}${counts[name] ? '' : ' none'}`);
}

/** The progress of an active job in words. */
function progressWords(status) {
	const { kind, progress: { share, total, done, perSecond, leftMillis, elapsedMillis } } = status;
	if (status.state === 'queued') return 'It waits in the queue.';
	if (kind === 'tuning' && !total) return 'It opens connections and warms up.';
	return [share === undefined ? null : percent(share), total ? `${number(done)} of ${count(total, nounOf(status))}` : count(done, nounOf(status)),
		kind === 'tuning' ? null : `${number(perSecond)}/s`, leftMillis === undefined ? duration(elapsedMillis) : `${duration(leftMillis)} left`].filter((word) => word).join(' · ');
}

/** The progress and the report of a job, with the buttons for it. */
export class JobView {
	title = h('h1', {}, 'Job');
	state = h('span', {});
	about = h('p', { class: 'hint' });
	ending = notice();
	errors = notice();
	bar = h('progress', { max: 1, 'aria-label': 'Progress' });
	words = h('p', { class: 'words' }, 'The page waits for the service.');
	progress = h('div', { class: 'following' }, this.bar, this.words);
	chart = new Chart();
	tiles = h('dl', { class: 'tiles' });
	result = h('div');

	constructor(main, page, id) {
		Object.assign(this, { page, id, path: `v1/jobs/${id}` });
		this.ending.removeAttribute('role');
		this.controls = new JobControls(this);
		main.append(h('div', { class: 'title' }, this.title, this.state), this.about, this.ending, this.errors, this.progress, this.tiles, this.chart.element, this.controls.element, this.result);
	}

	attempt(action, onProblem) {
		return attempt(this.errors, this.page, action, onProblem);
	}

	/** Follows the job to its end, and shows its result. */
	async run() {
		this.result.replaceChildren();
		if (!await this.followToEnd()) return;
		this.result.replaceChildren(...jobResult(this));
		const { state, counts } = this.last;
		announce(`The job is ${state}. ${counts ? OUTCOMES.filter((name) => counts[name]).map((name) => `${number(counts[name])} ${name}`).join(', ') : ''}`);
	}

	/** Shows the progress of the job until it ends. Returns whether it has ended while the page is open. */
	async followToEnd() {
		const ended = await this.attempt(() => this.follow(), (problem) => problem.status === 404 && this.drawUnknown());
		if (!ended || !this.last || this.page.aborted) return false;
		this.reportRequest = this.report = undefined;
		await this.refreshReport();
		this.draw();
		return true;
	}

	async follow() {
		// On a new page, performance.now() is less than 1000.
		let refreshedAt = -Infinity;
		for await (const status of follow(this.id, this.page)) {
			const before = this.last?.state;
			this.last = status;
			if (isActive(status.state) && performance.now() - refreshedAt > REPORT_MILLIS) {
				refreshedAt = performance.now();
				this.refreshReport();
			}
			this.draw();
			if (before && before !== status.state) {
				announce(`The job is ${status.state}`);
			}
		}
		return true;
	}

	/** Follows a job that was resumed. */
	async resume() {
		this.chart.clear();
		await this.run();
	}

	async refreshReport() {
		if (this.reportRequest) return;
		const request = this.reportRequest = {};
		// The events show the problem, if there is one.
		const found = await json('GET', this.path, { signal: this.page }).catch(() => this.report);
		// If the job has ended meanwhile, a later request has its last report.
		if (request === this.reportRequest) {
			this.report = found;
			this.reportRequest = undefined;
		}
	}

	draw() {
		const { last, last: { progress: { share, elapsedMillis }, counts } } = this;
		const active = isActive(last.state);
		this.title.textContent = titleOf(last);
		document.title = `${active && share !== undefined ? `${percent(share)} ` : ''}${titleOf(last)} · Pipeset`;
		this.state.replaceChildren(badge(last), ...(last.dryRun ? [h('span', { class: 'badge' }, 'dry run')] : last.verified ? [h('span', { class: 'badge' }, 'comparison')] : []));
		this.about.replaceChildren(`created ${timestamp(last.createdMillis)}${last.endedMillis ? `, took ${duration(last.endedMillis - last.createdMillis)}` : ''} `, h('code', {}, this.id));
		this.ending.setText(last.ending?.detail);
		this.progress.hidden = !active;
		if (share === undefined) {
			this.bar.removeAttribute('value');
		} else {
			this.bar.value = share;
		}
		this.words.textContent = progressWords(last);
		this.drawTiles(active);
		if (counts && !last.dryRun && !last.verified) {
			this.chart.add(elapsedMillis, counts, active);
		}
		this.controls.draw();
	}

	drawTiles(active) {
		const { last, last: { counts, kind, progress }, report } = this;
		const { verified } = last;
		const shown = (counts && !verified) ? TILES.filter((name) => counts[name] || name === (last.dryRun ? 'unprocessed' : 'applied') || name === 'rejected') : [];
		const rate = active ? progress.perSecond : report?.recordsPerSecond || progress.averagePerSecond;
		const batches = report?.timings?.batches;
		this.tiles.replaceChildren(...shown.map((name) => outcomeTile(name, last, active)),
				...Object.keys(verified ? COMPARED : {}).map((name) => tile(name, number(verified[name]), COMPARED[name],
						`outcome ${['different', 'missing'].includes(name) ? 'rejected' : 'unprocessed'}${verified[name] ? '' : ' none'}`)),
				// The run time of an interrupted job is unknown.
				...(kind === 'tuning' || last.state === 'interrupted') ? [] : [tile(active ? 'rate' : 'average rate', `${number(rate)}/s`, `${nounOf(last)}s per second`)],
				...batches?.count ? [tile('batch p50', duration(batches.p50Millis), 'half of the batches took no longer'), tile('batch p99', duration(batches.p99Millis), '99 of 100 batches took no longer')] : []);
	}

	/** Hides what the page showed last, because the service no longer knows the job. */
	drawUnknown() {
		[this.progress, this.tiles, this.chart.element, this.controls.element].forEach((part) => part.hidden = true);
		this.state.replaceChildren(...(this.last ? [h('span', { class: 'badge failed' }, 'no longer known')] : []));
		document.title = 'Job · Pipeset';
	}
}
