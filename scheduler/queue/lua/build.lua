-- Builds the queue anew. ARGV[3] incarnation, ARGV[4] number of units, ARGV[5] number of segments n, then n times
-- lo, hi, order, then pairs: a unit that is done, what is kept of it. {'ok'}
delete_all()
redis.call('HSET', key('meta'), 'server', ARGV[1], 'incarnation', ARGV[3], 'units', ARGV[4], 'next', 0)
local at = 6
for _ = 1, tonumber(ARGV[5]) do
  add_segment(ARGV[at], ARGV[at + 1], ARGV[at + 2], '')
  at = at + 3
end
for i = at, #ARGV, 2 do redis.call('HSET', key('done'), ARGV[i], ARGV[i + 1]) end
event('build', '', '', '', 'incarnation', ARGV[3])
keep_for_a_day()
-- A worker that asks after the replay was finished and removed builds this: it shall not stay for ever.
if ARGV[5] == '0' then
  for _, name in ipairs({'meta', 'done', 'events'}) do redis.call('EXPIRE', key(name), 3600) end
end
return {'ok'}
