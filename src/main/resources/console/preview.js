// The first records of a load as commands, which the service makes of them in a dry run.

import { bytes, h, notice, query, section } from './page.js';
import { firstRecords } from './sample.js';
import { call } from './service.js';
import { PREVIEW, PREVIEW_RECORDS } from './tab.js';

/** Settings of the load that a preview does not have: its label, rate limits, and what happens at the end of a job. */
const NOT_IN_PREVIEWS = new Set(['label', 'rateLimit', 'maxErrors', 'callback']);

/** The same for a source, whose preview is a job that may be cancelled before its end. */
const NOT_IN_SOURCE_PREVIEWS = new Set([...NOT_IN_PREVIEWS, 'replace', 'estimate']);

export class Preview {
	last = 0;
	commands = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The first records as commands' });
	errors = notice();
	outdated = h('p', { class: 'actions', hidden: true }, h('button', { type: 'button', id: 'again', onclick: () => this.refresh() }, 'Show them again'),
			h('span', { class: 'hint' }, 'They may have changed. The service reads the source only when you ask for it.'));
	element = section('preview', 'The first records', this.outdated, this.errors, this.commands);

	constructor(view) {
		this.view = view;
	}

	/** Refreshes it when the user has not typed for some time. */
	schedule(millis) {
		clearTimeout(this.timer);
		// Each reading of a source costs a query of its database, or a request to its server.
		this.outdated.hidden = !this.view.state.kind;
		if (!this.view.state.kind) {
			this.timer = setTimeout(() => this.refresh(), millis);
		}
	}

	/** Forgets the answers that are still to come. */
	cancel() {
		clearTimeout(this.timer);
		this.last++;
	}

	async refresh() {
		const preview = ++this.last;
		const report = await (this.view.state.kind ? this.readSource(preview) : this.convert(preview));
		if (preview === this.last && !this.view.page.aborted) {
			this.show(report);
		}
	}

	async readSource(preview) {
		const { source, mapping } = this.view;
		this.outdated.hidden = true;
		const report = await source.dryRun(mapping.parameters().filter(([name]) => !NOT_IN_SOURCE_PREVIEWS.has(name)), this.errors);
		if (preview === this.last) {
			this.outdated.hidden &&= Boolean(report);
		}
		return report;
	}

	async convert(preview) {
		const { mapping, state, page } = this.view;
		const parameters = [...mapping.parameters().filter(([name]) => !NOT_IN_PREVIEWS.has(name)), ...PREVIEW];
		let message;
		let report;
		try {
			report = await (await call('POST', `v1/jobs?${query(parameters)}`, { headers: { 'Content-Type': state.type }, body: firstRecords(mapping.sample, state, PREVIEW_RECORDS), signal: page })).json();
		} catch (error) {
			message = error.message;
			report = error.job;
		}
		if (preview === this.last && !page.aborted) {
			this.errors.setText(message);
		}
		return report;
	}

	show(report) {
		const items = (report?.items ?? []).slice(0, PREVIEW_RECORDS);
		this.commands.replaceChildren(...items.length ? [table(items)] : []);
		this.commands.hidden = !items.length;
		for (const input of this.view.body.querySelectorAll('[data-setting]')) {
			const now = report?.settings?.[input.dataset.setting];
			if (now !== undefined && input.dataset.setting !== 'label' && !this.view.state.settings[input.dataset.setting]) {
				input.placeholder = String(now);
			}
		}
	}
}

function table(items) {
	return h('table', { class: 'commands' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, items[0].line ? 'Line' : '#'), h('th', { scope: 'col' }, 'Command'))),
			h('tbody', {}, items.map((item) => h('tr', { class: item.error ? 'wrong' : '' }, h('td', { class: 'number' }, String(item.line ?? item.index)),
					h('td', {}, item.error ? [h('strong', {}, item.error.code), ` ${item.error.message}`] : command(item))))));
}

/** A command as in redis-cli, with its key highlighted. */
function command(item) {
	const words = item.command.map((word) => (typeof word === 'object') ? JSON.stringify(word) : String(word));
	let note = null;
	if (item.op === 'HSET' && words[0] === 'EVALSHA') {
		// One script runs HSET and EXPIRE.
		const seconds = words[4];
		words.splice(0, 5, 'HSET', words[3]);
		note = h('span', { class: 'hint' }, ` and EXPIRE ${seconds}`);
	}
	const shown = words.map((word, i) => {
		const short = (word.length > 200) ? `${word.substring(0, 200)}… (${bytes(word.length)})` : word;
		return h('span', { class: i === 0 ? 'op' : (word === item.key) ? 'key' : '' }, /^[^\s"'\\]+$/.test(short) ? short : JSON.stringify(short));
	});
	return h('code', {}, shown.flatMap((word, i) => i ? [' ', word] : [word]), note);
}
