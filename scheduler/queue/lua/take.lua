-- A part of a running segment becomes the worker's. ARGV[3] worker, ARGV[4] from, ARGV[5] the segment, ARGV[6] its end as
-- the worker knows it, ARGV[7] the first unit of the part, ARGV[8] '1' for a copy of that unit alone, which the segment
-- keeps, ARGV[9] how many copies there may be. {'segment', id, lo, hi, cur, fence} | {'moved'} | {'absent'}
if not present() then return {'absent'} end
local worker, id, at = ARGV[3], ARGV[5], tonumber(ARGV[7])
heartbeat(worker)
local s = redis.call('HMGET', seg(id), 'state', 'hi', 'cur', 'copy', 'order')
if s[1] ~= 'running' or s[2] ~= ARGV[6] then return {'moved'} end
local cur, hi = tonumber(s[3]), tonumber(s[2])
if ARGV[8] ~= '1' then
  if at <= cur or at >= hi then return {'moved'} end
  return grant(split_at(id, at), worker, ARGV[4])
end
if at ~= cur or s[4] or tonumber(redis.call('HGET', key('meta'), 'copies') or '0') >= tonumber(ARGV[9]) then
  return {'moved'}
end
redis.call('HINCRBY', key('meta'), 'copies', 1)
local copy = add_segment(at, at + 1, s[5], id)
redis.call('HSET', seg(copy), 'copy_of', id)
redis.call('HSET', seg(id), 'copy', copy)
event('copy', id, at, worker, 'copy', copy)
return grant(copy, worker, ARGV[4])
