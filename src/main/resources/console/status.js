// Service: what it has in use of what it may have, its servers, and the jobs that run.

import { JobTable } from './jobs.js';
import { again, bar, bytes, count, curl, h, notice, number, percent, shell } from './page.js';
import { Problem, address, isKeyed, json, untilBack } from './service.js';

const LOOK_MILLIS = 1000;

/** A service that is silent for longer may hang. */
const SILENCE_MILLIS = 5000;

const MOST_JOBS = 20;

const SLOTS = 16384;

/** The part of a bound from which on somebody should look. */
const HIGH = 0.9;

const TROUBLES = {
	redis: 'Redis does not answer: jobs are refused, or wait, until it does.',
	readinessState: 'The service takes no jobs now: it starts, or shuts down.',
	diskSpace: 'The disk is nearly full, and uploads that outlive their request need it.',
};

const NOT_HERE = 'Actuator is not at this port, and a page may ask the port that it came from only. Here it has a port of its own (management.server.port, which is 8081 in a container), or it is not exposed.';

export async function status(main, page) {
	const state = h('span', {});
	const troubles = h('div', { role: 'status' });
	const mistaken = notice();
	const uses = h('dl', { class: 'bars' });
	const use = h('section', { 'aria-labelledby': 'use-title', hidden: true }, h('h2', { id: 'use-title' }, 'In use'), uses);
	const nodesTable = h('table', { class: 'servers' });
	const slots = h('p', { class: 'hint' });
	const servers = h('section', { 'aria-labelledby': 'servers-title', hidden: true }, h('h2', { id: 'servers-title' }, 'Connections by server'),
			h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Servers' }, nodesTable), slots);
	const control = h('p', { class: 'hint' });
	const inUse = h('div', {}, use, servers, control);
	const uncancelled = notice();
	const table = new JobTable(uncancelled, () => look());
	const none = h('p', { class: 'empty', hidden: true }, 'No job runs or waits.');
	const more = h('p', { class: 'hint', hidden: true }, h('span'), ' ', h('a', { href: '#/jobs' }, 'All jobs'));
	const listed = h('div', {}, none, table.element, more);
	main.append(h('div', { class: 'live' }, h('div', { class: 'title' }, h('h1', {}, 'Service'), state), troubles, mistaken, inUse,
			h('section', { 'aria-labelledby': 'running-title' }, h('h2', { id: 'running-title' }, 'Jobs that run and wait'), uncancelled, listed)),
	h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), ['actuator/health', 'actuator/pipeset', `v1/jobs?state=running&limit=${MOST_JOBS}`]
		.map((path) => shell(curl({ method: 'GET', url: address(path), keyed: isKeyed() })))));

	/** Draws rows anew only if something else is to be said, so that nobody's selection is lost. */
	const drawn = new Map();
	function draw(element, children) {
		const now = children.map((child) => child.outerHTML).join('');
		if (drawn.get(element) !== now) {
			drawn.set(element, now);
			element.replaceChildren(...children);
		}
	}

	function row(name, used, most, words, note) {
		return h('div', { class: 'bar' }, h('dt', {}, name), h('dd', {}, most === undefined ? h('span', { class: 'nobar' }) : bar(used, most, name, HIGH * most),
				h('span', { class: 'number' }, words(used), most === undefined ? null : h('span', { class: 'hint' }, ` of ${words(most)}`)),
				h('small', {}, [most === undefined ? null : share(used, most), note].filter((word) => word).join(', '))));
	}

	function share(used, most) {
		return !used ? '0 %' : used / most < 0.001 ? '< 0.1 %' : percent(Math.min(1, used / most));
	}

	function waiting(jobs, thing) {
		return jobs ? `${count(jobs, 'job')} ${jobs === 1 ? 'waits' : 'wait'} for ${thing}` : '';
	}

	/** What Actuator has said last of what is in use, as long as it says so. */
	let known;

	async function showUse(signal) {
		known = await json('GET', 'actuator/pipeset', { signal });
		const { jobsRunning, jobsWaiting, lanes, nodes, inFlightBytes, memory, spool, limits = {}, control: kept } = known;
		use.hidden = false;
		draw(uses, [row('Jobs that run', jobsRunning, limits.jobsRunning, number, ''),
			row('Jobs that wait', jobsWaiting, undefined, number, limits.jobsWaiting === undefined ? '' : `${number(limits.jobsWaiting)} callers may wait, and asynchronous jobs beside them`),
			row('Connections', lanes.busy, lanes.most, number, waiting(lanes.waiting, 'one')),
			row('Commands on their way', inFlightBytes, limits.inFlightBytes, bytes, ''),
			row('Memory for jobs', memory.usedBytes, memory.budgetBytes, bytes, [waiting(memory.waiting, 'some'), `${bytes(memory.jobBytes)} for one job at most`].filter((word) => word).join(', ')),
			// An instance of the version before has neither bounds nor this.
			...(spool ? [row('Spool on disk', spool.usedBytes, spool.budgetBytes, bytes, '')] : [])]);
		const named = Object.entries(nodes);
		const isCluster = named.some(([, node]) => node.slots !== undefined);
		servers.hidden = named.length === 0;
		draw(nodesTable, [h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Server'), isCluster ? h('th', { scope: 'col', class: 'number' }, 'Slots') : [],
				h('th', { scope: 'col' }, 'Busy'), h('th', { scope: 'col', class: 'number' }, 'Waiting'))),
		h('tbody', {}, named.map(([name, node]) => h('tr', {}, h('td', {}, h('code', {}, name)), isCluster ? h('td', { class: 'number' }, number(node.slots ?? 0)) : [],
				h('td', {}, h('div', { class: 'busy' }, bar(node.busy, node.most, name, HIGH * node.most), h('span', {}, number(node.busy), h('span', { class: 'hint' }, ` of ${number(node.most)}`)))),
				h('td', { class: 'number' }, number(node.waiting)))))]);
		const served = named.reduce((sum, [, node]) => sum + (node.slots ?? 0), 0);
		slots.textContent = !isCluster ? '' : served === SLOTS ? `All ${number(SLOTS)} slots have a master.` : `${number(SLOTS - served)} of ${number(SLOTS)} slots have no master: records for them are refused.`;
		slots.className = isCluster && served < SLOTS ? 'warning' : 'hint';
		control.textContent = `Control Redis at ${kept.address}: ${{ up: 'it answers', down: 'it does not answer, so that other instances cannot tell of jobs', unused: 'not used yet' }[kept.state] ?? kept.state}${kept.bestEffort ? `. Records of jobs may be lost (${kept.bestEffort})` : ''}.`;
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
		const ill = Object.entries(components ?? {}).filter(([, component]) => component.status !== 'UP' && component.status !== 'UNKNOWN').map(([name]) => name);
		draw(state, [h('span', { class: `badge ${word === 'UP' ? 'running' : 'failed'}` }, word === 'UP' ? 'up' : 'in trouble')]);
		draw(troubles, ill.map((name) => h('p', { class: 'warning' }, TROUBLES[name] ?? `${name} is ${components[name].status}.`)));
	}

	async function showJobs(signal) {
		// Other instances have jobs that wait, too.
		const found = await Promise.all(['running', 'queued'].map((name) => json('GET', `v1/jobs?state=${name}&limit=${MOST_JOBS}`, { signal })));
		const jobs = found.flatMap((list) => list.jobs);
		table.show(jobs);
		more.hidden = !found.some((list) => list.next);
		none.hidden = jobs.length > 0 || !more.hidden;
		// One look looks at so many jobs at most, of which those of another state are not listed.
		more.firstChild.textContent = found.some((list) => list.next && list.jobs.length < MOST_JOBS) ? 'Not all jobs were looked at: older ones may run or wait.' : `Those above are the newest ${MOST_JOBS} that run, and the newest ${MOST_JOBS} that wait${known ? `, of ${number(known.jobsRunning)} and ${number(known.jobsWaiting)} at this instance` : ''}.`;
	}

	/** Shows a part by its own call; without an answer it would stand still, and is hidden. Answers with what is wrong. */
	async function part(signal, shows, ...elements) {
		let problem;
		try {
			await shows(signal);
		}
		catch (error) {
			if (signal.aborted) {
				return undefined;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			problem = error;
		}
		elements.forEach((element) => element.hidden = Boolean(problem));
		return problem;
	}

	const look = again(page, async (signal) => {
		const silence = setTimeout(untilBack, SILENCE_MILLIS);
		try {
			const [unlisted, unwell, unused] = await Promise.all([part(signal, showJobs, listed), part(signal, showHealth, state, troubles), part(signal, showUse, inUse)]);
			if (signal.aborted) {
				return LOOK_MILLIS;
			}
			if (unused) {
				known = undefined;
			}
			const wrong = [unlisted, unwell, unused].filter((problem) => problem).map(({ status, message }) => (status === 404) ? NOT_HERE : message);
			mistaken.say([...new Set(wrong)].join(' '));
		}
		finally {
			clearTimeout(silence);
		}
		return LOOK_MILLIS;
	});

	await look();
}
