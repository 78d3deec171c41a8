// The page Service: what is in use and its limits, the servers, and the running jobs.

import { JobTable } from './jobtable.js';
import { curl, shell } from './curl.js';
import { bar, bytes, count, h, notice, number, percent, pollWhileVisible } from './page.js';
import { Problem, awaitService, json } from './service.js';

const POLL_MILLIS = 1000;

/** A service that does not answer for this long may hang. */
const SILENCE_MILLIS = 5000;

const MAX_JOBS = 20;

const SLOTS = 16384;

/** The share of a limit from which a bar warns. */
const HIGH_SHARE = 0.9;

const HEALTH_MESSAGES = {
	redis: 'Redis does not answer. Until it does, jobs are refused or wait.',
	readinessState: 'The service accepts no jobs now, because it is starting or shutting down.',
	diskSpace: 'The disk is nearly full. Asynchronous jobs need it for their uploads.',
};

const ACTUATOR_ELSEWHERE = 'Actuator is not at this port, and this page can call only the port that it came from. Actuator has its own port (management.server.port, 8081 in a container), or it is not exposed.';

export async function status(main, page) {
	const state = h('span', {});
	const healthNotices = h('div', { role: 'status' });
	const errorNotice = notice();
	const usageBars = h('dl', { class: 'bars' });
	const usage = h('section', { 'aria-labelledby': 'use-title', hidden: true }, h('h2', { id: 'use-title' }, 'In use'), usageBars);
	const nodesTable = h('table', { class: 'servers' });
	const slots = h('p', { class: 'hint' });
	const servers = h('section', { 'aria-labelledby': 'servers-title', hidden: true }, h('h2', { id: 'servers-title' }, 'Connections by server'),
			h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Servers' }, nodesTable), slots);
	const controlState = h('p', { class: 'hint' });
	const usageParts = h('div', {}, usage, servers, controlState);
	const cancelErrorNotice = notice();
	const table = new JobTable(cancelErrorNotice, () => refresh());
	const none = h('p', { class: 'empty', hidden: true }, 'No job is running or queued.');
	const more = h('p', { class: 'hint', hidden: true }, h('span'), ' ', h('a', { href: '#/jobs' }, 'All jobs'));
	const listed = h('div', {}, none, table.element, more);
	main.append(h('div', { class: 'live' }, h('div', { class: 'title' }, h('h1', {}, 'Service'), state), healthNotices, errorNotice, usageParts,
			h('section', { 'aria-labelledby': 'running-title' }, h('h2', { id: 'running-title' }, 'Running and queued jobs'), cancelErrorNotice, listed)),
	h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), ['actuator/health', 'actuator/pipeset', `v1/jobs?state=running&limit=${MAX_JOBS}`]
		.map((path) => shell(curl(path)))));

	/** Redraws an element only if its content changed, because a redraw would clear the user's selection. */
	const drawn = new Map();
	function draw(element, children) {
		const now = children.map((child) => child.outerHTML).join('');
		if (drawn.get(element) !== now) {
			drawn.set(element, now);
			element.replaceChildren(...children);
		}
	}

	function row(name, used, max, format, note) {
		return h('div', { class: 'bar' }, h('dt', {}, name), h('dd', {}, max === undefined ? h('span', { class: 'nobar' }) : bar(used, max, name, HIGH_SHARE * max),
				h('span', { class: 'number' }, format(used), max === undefined ? null : h('span', { class: 'hint' }, ` of ${format(max)}`)),
				h('small', {}, [max === undefined ? null : share(used, max), note].filter((word) => word).join(', '))));
	}

	function share(used, max) {
		return !used ? '0 %' : used / max < 0.001 ? '< 0.1 %' : percent(Math.min(1, used / max));
	}

	function waiting(jobs, thing) {
		return jobs ? `${count(jobs, 'job')} ${jobs === 1 ? 'waits' : 'wait'} for ${thing}` : '';
	}

	/** The last answer of Actuator about what is in use; undefined if the last call failed. */
	let known;

	async function showUse(signal) {
		known = await json('GET', 'actuator/pipeset', { signal });
		const { jobsRunning, jobsWaiting, lanes, nodes, inFlightBytes, memory, spool, limits = {}, control } = known;
		usage.hidden = false;
		draw(usageBars, [row('Running jobs', jobsRunning, limits.jobsRunning, number, ''),
			row('Queued jobs', jobsWaiting, undefined, number, limits.jobsWaiting === undefined ? '' : `${number(limits.jobsWaiting)} callers may wait, in addition to asynchronous jobs`),
			row('Connections', lanes.busy, lanes.most, number, waiting(lanes.waiting, 'a connection')),
			row('Commands in flight', inFlightBytes, limits.inFlightBytes, bytes, ''),
			row('Memory for jobs', memory.usedBytes, memory.budgetBytes, bytes, [waiting(memory.waiting, 'memory'), `at most ${bytes(memory.jobBytes)} for one job`].filter((word) => word).join(', ')),
			// An instance of the previous version reports neither limits nor the spool.
			...(spool ? [row('Spool on disk', spool.usedBytes, spool.budgetBytes, bytes, '')] : [])]);
		const nodeList = Object.entries(nodes);
		const isCluster = nodeList.some(([, node]) => node.slots !== undefined);
		servers.hidden = nodeList.length === 0;
		draw(nodesTable, [h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Server'), isCluster ? h('th', { scope: 'col', class: 'number' }, 'Slots') : [],
				h('th', { scope: 'col' }, 'Busy'), h('th', { scope: 'col', class: 'number' }, 'Waiting'))),
		h('tbody', {}, nodeList.map(([name, node]) => h('tr', {}, h('td', {}, h('code', {}, name)), isCluster ? h('td', { class: 'number' }, number(node.slots ?? 0)) : [],
				h('td', {}, h('div', { class: 'busy' }, bar(node.busy, node.most, name, HIGH_SHARE * node.most), h('span', {}, number(node.busy), h('span', { class: 'hint' }, ` of ${number(node.most)}`)))),
				h('td', { class: 'number' }, number(node.waiting)))))]);
		const served = nodeList.reduce((sum, [, node]) => sum + (node.slots ?? 0), 0);
		slots.textContent = !isCluster ? '' : served === SLOTS ? `All ${number(SLOTS)} slots have a master.` : `${number(SLOTS - served)} of ${number(SLOTS)} slots have no master, so records for them are refused.`;
		slots.className = isCluster && served < SLOTS ? 'warning' : 'hint';
		controlState.textContent = `Control Redis at ${control.address}: ${{ up: 'it answers', down: 'it does not answer, so instances cannot show the jobs of other instances', unused: 'not used yet' }[control.state] ?? control.state}${control.bestEffort ? `. Records of jobs may be lost (${control.bestEffort})` : ''}.`;
	}

	async function health(signal) {
		try {
			return await json('GET', 'actuator/health', { signal });
		}
		catch (error) {
			if (error instanceof Problem && error.answer.components) {
				return error.answer;
			}
			throw error;
		}
	}

	async function showHealth(signal) {
		const { status: word, components } = await health(signal);
		const unhealthy = Object.entries(components ?? {}).filter(([, component]) => component.status !== 'UP' && component.status !== 'UNKNOWN').map(([name]) => name);
		draw(state, [h('span', { class: `badge ${word === 'UP' ? 'running' : 'failed'}` }, word === 'UP' ? 'up' : 'unhealthy')]);
		draw(healthNotices, unhealthy.map((name) => h('p', { class: 'warning' }, HEALTH_MESSAGES[name] ?? `${name} is ${components[name].status}.`)));
	}

	async function showJobs(signal) {
		// Actuator counts the jobs of this instance only, but others have jobs, too.
		const found = await Promise.all(['running', 'queued'].map((name) => json('GET', `v1/jobs?state=${name}&limit=${MAX_JOBS}`, { signal })));
		const jobs = found.flatMap((list) => list.jobs);
		table.show(jobs);
		more.hidden = !found.some((list) => list.next);
		none.hidden = jobs.length > 0 || !more.hidden;
		// A list checks a limited number of jobs, and leaves out those of other states.
		more.firstChild.textContent = found.some((list) => list.next && list.jobs.length < MAX_JOBS) ? 'Not all jobs were checked. Older ones may be running or queued.' : `The list has the newest ${MAX_JOBS} running and the newest ${MAX_JOBS} queued jobs${known ? `, of ${number(known.jobsRunning)} and ${number(known.jobsWaiting)} at this instance` : ''}.`;
	}

	/** The parts that this port does not have. They are not asked for again, because a browser logs each 404. */
	const missing = new Map();

	/** Refreshes a part of the page. If its call fails, hides the part because its data is old, and returns the problem. */
	async function part(signal, showPart, ...elements) {
		let problem = missing.get(showPart);
		if (problem) {
			return problem;
		}
		try {
			await showPart(signal);
		}
		catch (error) {
			if (signal.aborted) {
				return undefined;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			problem = error;
			if (error.status === 404) {
				missing.set(showPart, error);
			}
		}
		elements.forEach((element) => element.hidden = Boolean(problem));
		return problem;
	}

	const refresh = pollWhileVisible(page, async (signal) => {
		const silence = setTimeout(awaitService, SILENCE_MILLIS);
		try {
			const [jobsProblem, healthProblem, useProblem] = await Promise.all([part(signal, showJobs, listed), part(signal, showHealth, state, healthNotices), part(signal, showUse, usageParts)]);
			if (signal.aborted) {
				return POLL_MILLIS;
			}
			if (useProblem) {
				known = undefined;
			}
			const messages = [jobsProblem, healthProblem, useProblem].filter((problem) => problem).map(({ status, message }) => (status === 404) ? ACTUATOR_ELSEWHERE : message);
			errorNotice.setText([...new Set(messages)].join(' '));
		}
		finally {
			clearTimeout(silence);
		}
		return POLL_MILLIS;
	});

	await refresh();
}
