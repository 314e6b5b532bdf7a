import { Pool } from 'pg'

/**
 * The yardstick: the same reads by one `pg` query a call in one process, with named prepared statements and nothing around
 * them: no HTTP, no authentication, no policy, no audit.
 */
export interface PgLoopPlan {
  readonly url: string
  readonly workload: 'get' | 'search'
  readonly concurrency: number
  readonly poolMax: number
  readonly seconds: number
  readonly idMax: number
}

const STATEMENTS = {
  get: {
    name: 'get',
    text: 'SELECT id, name, price, in_stock, added_at FROM items WHERE id = $1',
  },
  search: {
    name: 'search',
    text: 'SELECT id, name, price, in_stock, added_at FROM items WHERE id >= $1 ORDER BY id LIMIT 20',
  },
} as const

async function run(plan: PgLoopPlan): Promise<number> {
  const pool = new Pool({ connectionString: plan.url, max: plan.poolMax })
  const endsAtMs = performance.now() + plan.seconds * 1_000
  let calls = 0
  const client = async (seed: number): Promise<void> => {
    let id = seed
    while (performance.now() < endsAtMs) {
      id = 1 + ((id * 48_271 + seed) % plan.idMax)
      const { rows } = await pool.query({ ...STATEMENTS[plan.workload], values: [id] })
      JSON.stringify(rows)
      calls += 1
    }
  }
  const startMs = performance.now()
  await Promise.all(Array.from({ length: plan.concurrency }, (_, i) => client(1 + i * 7_919)))
  const perSecond = calls / ((performance.now() - startMs) / 1_000)
  await pool.end()
  return perSecond
}

if (process.argv[2] !== undefined) {
  const plan: PgLoopPlan = JSON.parse(process.argv[2])
  process.stdout.write(JSON.stringify({ perSecond: await run(plan) }))
}
