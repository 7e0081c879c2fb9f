-- Builds the queue anew. ARGV[3] incarnation, ARGV[4] number of units, ARGV[5] id of the first proof unit, ARGV[6] number
-- of proof units, ARGV[7] number of segments n, then n times lo, hi, order, then pairs: a unit that is done, what is kept
-- of it. {'ok'}
delete_all()
redis.call('HSET', key('meta'), 'server', ARGV[1], 'incarnation', ARGV[3], 'units', ARGV[4], 'first_proof',
           ARGV[5], 'proofs', ARGV[6], 'next', 0, 'lists_running', 1)
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  add_segment(ARGV[at], ARGV[at + 1], ARGV[at + 2], '')
  at = at + 3
end
for i = at, #ARGV, 2 do redis.call('HSET', key('done'), ARGV[i], ARGV[i + 1]) end
event('build', '', '', '', 'incarnation', ARGV[3])
keep_for_a_day()
-- A worker that asks after the replay was finished and removed builds this: it shall not stay for ever.
if ARGV[7] == '0' then
  for _, name in ipairs({'meta', 'done', 'events'}) do redis.call('EXPIRE', key(name), 3600) end
end
return {'ok'}
