// The buttons on the page of a job: cancel and change the rate limit while it is active, resume if it was interrupted.

import { curl, curlLines, followLine, shell } from './curl.js';
import { isActive } from './jobwords.js';
import { announce, h, number } from './page.js';
import { call } from './service.js';

export class JobControls {
	element = h('section', { 'aria-labelledby': 'controls-title', hidden: true });

	/** @param view the page, with the last status and the last report */
	constructor(view) {
		this.view = view;
	}

	/** Redraws the buttons only if the state changes, because a redraw would lose typed text. */
	draw() {
		const { last: { state, kind } } = this.view;
		const now = isActive(state) ? 'active' : state;
		if (now === 'active' && this.rate && this.view.report && !this.rate.dataset.used) {
			this.rate.value = this.limit();
		}
		if (this.drawn === now) return;
		this.drawn = now;
		const parts = (now === 'active') ? this.active(kind) : (now === 'interrupted' && kind === 'records') ? this.interrupted() : [];
		this.element.hidden = parts.length === 0;
		this.element.replaceChildren(...parts);
	}

	/** The current rate limit of the job. */
	limit() {
		return this.view.report?.settings?.rateLimit ?? '';
	}

	active(kind) {
		const { id, path } = this.view;
		const rateLine = shell(curl(`${path}?rateLimit=5000`, { method: 'PATCH' }));
		const rate = this.rate = h('input', { type: 'number', id: 'rate', min: 1, max: 1_000_000_000, step: 1, placeholder: 'no limit', value: this.limit(),
			oninput: () => rateLine.setText(curl(this.ratePath(), { method: 'PATCH' })), onfocus: () => rate.dataset.used = 'yes' });
		const cancel = h('button', { type: 'button', id: 'cancel', onclick: () => this.view.attempt(() => call('DELETE', path)) }, 'Cancel the job');
		const isPaced = kind !== 'tuning';
		return [h('h2', { id: 'controls-title', class: 'unseen' }, 'Actions'),
			h('form', { class: 'actions', onsubmit: (event) => this.change(event) }, cancel,
					isPaced ? [h('label', { for: 'rate' }, 'Records per second'), rate, h('button', { id: 'change' }, 'Change the rate limit')] : null),
			curlLines('Follow', followLine(id), 'Cancel', shell(curl(path, { method: 'DELETE' })), isPaced ? ['Change the rate limit', rateLine] : [])];
	}

	ratePath() {
		return `${this.view.path}?rateLimit=${this.rate.value || 'none'}`;
	}

	change(event) {
		event.preventDefault();
		if (this.rate.reportValidity()) {
			this.view.attempt(async () => {
				await call('PATCH', this.ratePath());
				announce(this.rate.value ? `The rate limit is now ${number(Number(this.rate.value))} per second` : 'The rate limit is removed');
			});
		}
	}

	interrupted() {
		const { view, view: { path } } = this;
		const button = (properties, label, action) => h('button', { type: 'button', ...properties, onclick: () => view.attempt(action) }, label);
		return [h('h2', { id: 'controls-title' }, 'The service process ended'),
			h('p', {}, 'The service stopped while this job was running. The job can resume there if its records may be repeated.'),
			h('p', { class: 'actions' }, button({ class: 'main', id: 'resume' }, 'Resume', async () => {
				await call('POST', `${path}/resume`);
				view.resume();
			}), button({}, 'Cancel the job', async () => {
				await call('DELETE', path);
				view.run();
			})),
			curlLines(shell(curl(`${path}/resume`, { method: 'POST' })))];
	}
}
