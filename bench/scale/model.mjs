/**
 * A simulation of many workers: each has one core, a link, a disk and so many connections, all share the limits of an origin. Requests are
 * followed one by one up to a number, from which the steady rate gives the rest.
 *
 * Simplifications: all documents and answers are alike, nothing fails.
 */

/** Requests that are followed one by one. */
const FOLLOWED = 200_000
/** Share of the followed requests after which the rate is steady. */
const WARM = 0.2
/** A token is replaced when a tenth of its lifetime is left, or so many seconds. */
const MARGIN = 300
const CONNECTIONS = { crawl: 8, download: 16, 'authorize': 64 }

/**
 * Returns how long a run takes, and the resource that is busiest.
 *
 * `documents` of one request each; `latency` in seconds; `perSecond` requests that the origin allows; `bytes` per document; `bandwidth`
 * of a worker in bytes per second; `connections` of a worker; `queue` for workers of `--queue`; `startup` in seconds.
 */
export function simulate(
  {
    task,
    documents,
    workers,
    latency = 0,
    perSecond = Infinity,
    bytes = 0,
    bandwidth = Infinity,
    queue = false,
    startup = 0.3,
    connections = CONNECTIONS[task],
  },
  constants,
) {
  const followed = Math.min(documents, FOLLOWED)
  const cpu = cpuSecondsOf(task, bytes, constants)
  // All workers of a queue share one Redis and one process that fills it.
  const { redisSeconds, producerSeconds } = queue ? constants.queue : { redisSeconds: 0, producerSeconds: 0 }
  const [disk, wait] = task === 'download' ? [bytes / constants.file.diskBytesPerSecond, constants.file.waitSeconds] : [0, 0]
  const slots = new SlotHeap(workers, connections)
  const cores = new Float64Array(workers)
  const links = new Float64Array(workers)
  const disks = new Float64Array(workers)
  const busy = { cpu: 0, network: 0, disk: 0, connections: 0 }
  let [allowedAt, end, warmAt] = [0, 0, 0]
  for (let index = 0; index < followed; index++) {
    const { at, worker } = slots.first()
    const start = Math.max(at, allowedAt)
    allowedAt = start + Math.max(1 / perSecond, redisSeconds, producerSeconds)
    const answered = start + latency
    links[worker] = Math.max(links[worker], answered) + bytes / bandwidth
    cores[worker] = Math.max(cores[worker], links[worker]) + cpu
    disks[worker] = Math.max(disks[worker], cores[worker]) + disk
    const free = disks[worker] + wait
    slots.replaceFirst(free)
    busy.cpu += cpu
    busy.network += bytes / bandwidth
    busy.disk += disk
    busy.connections += free - start
    end = Math.max(end, free)
    if (index === Math.floor(followed * WARM)) warmAt = end
  }
  const perRequest = (end - warmAt) / Math.max(1, followed - 1 - Math.floor(followed * WARM))
  const seconds = startup + end + (documents - followed) * perRequest
  const shares = {
    CPU: busy.cpu / (workers * end),
    network: busy.network / (workers * end),
    disk: busy.disk / (workers * end),
    'limit of the origin': followed / perSecond / end,
    Redis: (followed * redisSeconds) / end,
    'the process that fills the queue': (followed * producerSeconds) / end,
    latency: busy.connections / (workers * connections * end),
  }
  return {
    seconds,
    coreHours: (documents * (cpu + redisSeconds + producerSeconds)) / 3600,
    // Waiting for answers keeps connections busy; it is the limit only when nothing else is.
    bottleneck: Object.entries(shares).find(([name, share]) => name !== 'latency' && share > 0.85)?.[0] ?? 'latency',
  }
}

/**
 * Returns the token requests per hour of workers with a token store each, or of one that they share; how long a cold start waits for
 * them; and the share of its time that a worker can work where the token endpoint allows fewer requests than it needs.
 */
export function tokens({ workers, lifetime, shared, perSecond = Infinity }) {
  const stores = shared ? 1 : workers
  const needed = stores / (lifetime - Math.min(lifetime / 10, MARGIN))
  return { perHour: needed * 3600, coldSeconds: stores / perSecond, available: Math.min(1, perSecond / needed) }
}

function cpuSecondsOf(task, bytes, { crawl, presign, file, bytesPerCpuSecond }) {
  if (task === 'crawl') return crawl.cpuSeconds
  if (task === 'authorize') return presign.cpuSeconds
  // The measured file had 64 KiB.
  return file.cpuSeconds + Math.max(0, bytes - 65_536) / bytesPerCpuSecond
}

/** The connections of all workers, by the time at which each is free: a binary heap. */
class SlotHeap {
  #times
  #workers

  constructor(workers, connections) {
    this.#times = new Float64Array(workers * connections)
    this.#workers = Int32Array.from({ length: workers * connections }, (_, index) => index % workers)
  }

  first() {
    return { at: this.#times[0], worker: this.#workers[0] }
  }

  /** The first connection is free again at that time. */
  replaceFirst(at) {
    const [times, workers, worker] = [this.#times, this.#workers, this.#workers[0]]
    let place = 0
    for (;;) {
      const left = 2 * place + 1
      if (left >= times.length) break
      const child = left + 1 < times.length && times[left + 1] < times[left] ? left + 1 : left
      if (times[child] >= at) break
      times[place] = times[child]
      workers[place] = workers[child]
      place = child
    }
    times[place] = at
    workers[place] = worker
  }
}
