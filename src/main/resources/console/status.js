// The page Service: what is in use and its limits, the servers, and the running jobs.

import { curl, curlLines, shell } from './curl.js';
import { JobTable } from './jobtable.js';
import { h, notice, number, pollWhileVisible, section } from './page.js';
import { Problem, awaitService, json } from './service.js';
import { controlWords, serversTable, slotsWords, usageRows } from './usage.js';

const POLL_MILLIS = 1000;

/** A service that does not answer for this long may hang. */
const SILENCE_MILLIS = 5000;
const MAX_JOBS = 20;
const HEALTH_MESSAGES = {
	redis: 'Redis does not answer. Until it does, jobs are refused or wait.',
	readinessState: 'The service accepts no jobs now, because it is starting or shutting down.',
	diskSpace: 'The disk is nearly full. Asynchronous jobs need it for their uploads.',
};

const ACTUATOR_ELSEWHERE = 'Actuator is not at this port, and this page can call only the port that it came from. Actuator has its own port (management.server.port, 8081 in a container), or it is not exposed.';

export async function status(main, page) {
	await new StatusView(main, page).refresh();
}

/** Redraws an element only if its content changed, because a redraw would clear the user's selection. */
function draw(element, children) {
	const now = children.map((child) => child.outerHTML).join('');
	if (element.drawn !== now) {
		element.drawn = now;
		element.replaceChildren(...children);
	}
}

class StatusView {
	state = h('span', {});
	warnings = h('div', { role: 'status' });
	errors = notice();
	bars = h('dl', { class: 'bars' });
	nodes = h('table', { class: 'servers' });
	slots = h('p', { class: 'hint' });
	control = h('p', { class: 'hint' });
	usage = section('use', 'In use', this.bars);
	servers = section('servers', 'Connections by server', h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Servers' }, this.nodes), this.slots);
	use = h('div', {}, this.usage, this.servers, this.control);
	cancelErrors = notice();
	table = new JobTable(this.cancelErrors, () => this.refresh());
	none = h('p', { class: 'empty', hidden: true }, 'No job is running or queued.');
	moreWords = h('span');
	more = h('p', { class: 'hint', hidden: true }, this.moreWords, ' ', h('a', { href: '#/jobs' }, 'All jobs'));
	listed = h('div', {}, this.none, this.table.element, this.more);

	/** The parts, each with its elements. */
	parts = [[this.showJobs, this.listed], [this.showHealth, this.state, this.warnings], [this.showUse, this.use]];

	/** The parts that this port does not have. They are not asked for again, because a browser logs each 404. */
	missing = new Map();

	constructor(main, page) {
		this.usage.hidden = this.servers.hidden = true;
		this.refresh = pollWhileVisible(page, (signal) => this.poll(signal));
		main.append(h('div', { class: 'live' }, h('div', { class: 'title' }, h('h1', {}, 'Service'), this.state), this.warnings, this.errors, this.use,
				section('running', 'Running and queued jobs', this.cancelErrors, this.listed)),
		curlLines(['actuator/health', 'actuator/pipeset', `v1/jobs?state=running&limit=${MAX_JOBS}`].map((path) => shell(curl(path)))));
	}

	async poll(signal) {
		const silence = setTimeout(awaitService, SILENCE_MILLIS);
		try {
			const problems = await Promise.all(this.parts.map(([show, ...elements]) => this.part(signal, show, elements)));
			if (!signal.aborted) {
				// The parts are the jobs, the health and the use.
				this.known = problems[2] ? undefined : this.known;
				const messages = problems.filter((problem) => problem).map((problem) => (problem.status === 404) ? ACTUATOR_ELSEWHERE : problem.message);
				this.errors.setText([...new Set(messages)].join(' '));
			}
		} finally {
			clearTimeout(silence);
		}
		return POLL_MILLIS;
	}

	/** Refreshes a part of the page. If its call fails, hides the part because its data is old, and returns the problem. */
	async part(signal, show, elements) {
		let problem = this.missing.get(show);
		if (problem) return problem;
		try {
			await show.call(this, signal);
		} catch (error) {
			if (signal.aborted) return undefined;
			if (!(error instanceof Problem)) throw error;
			problem = error;
			if (error.status === 404) {
				this.missing.set(show, error);
			}
		}
		elements.forEach((element) => element.hidden = Boolean(problem));
		return problem;
	}

	async showUse(signal) {
		const found = this.known = await json('GET', 'actuator/pipeset', { signal });
		const nodes = Object.entries(found.nodes);
		this.usage.hidden = false;
		this.servers.hidden = nodes.length === 0;
		draw(this.bars, usageRows(found));
		draw(this.nodes, serversTable(nodes));
		Object.assign(this.slots, slotsWords(nodes));
		this.control.textContent = controlWords(found.control);
	}

	async showHealth(signal) {
		const { status: word, components = {} } = await json('GET', 'actuator/health', { signal }).catch((error) => {
			if (error instanceof Problem && error.answer.components) return error.answer;
			throw error;
		});
		const unhealthy = Object.keys(components).filter((name) => components[name].status !== 'UP' && components[name].status !== 'UNKNOWN');
		draw(this.state, [h('span', { class: `badge ${word === 'UP' ? 'running' : 'failed'}` }, word === 'UP' ? 'up' : 'unhealthy')]);
		draw(this.warnings, unhealthy.map((name) => h('p', { class: 'warning' }, HEALTH_MESSAGES[name] ?? `${name} is ${components[name].status}.`)));
	}

	async showJobs(signal) {
		// Actuator counts the jobs of this instance only, but others have jobs, too.
		const found = await Promise.all(['running', 'queued'].map((name) => json('GET', `v1/jobs?state=${name}&limit=${MAX_JOBS}`, { signal })));
		const jobs = found.flatMap((list) => list.jobs);
		const { known } = this;
		this.table.show(jobs);
		this.more.hidden = !found.some((list) => list.next);
		this.none.hidden = jobs.length > 0 || !this.more.hidden;
		// A list checks a limited number of jobs, and leaves out those of other states.
		this.moreWords.textContent = found.some((list) => list.next && list.jobs.length < MAX_JOBS) ? 'Not all jobs were checked. Older ones may be running or queued.'
			: `The list has the newest ${MAX_JOBS} running and the newest ${MAX_JOBS} queued jobs${known ? `, of ${number(known.jobsRunning)} and ${number(known.jobsWaiting)} at this instance` : ''}.`;
	}
}
