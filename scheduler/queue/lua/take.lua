-- A part of a running segment becomes the worker's. ARGV[3] worker, ARGV[4] from, ARGV[5] the segment, ARGV[6] its end as
-- the worker knows it, ARGV[7] the first unit of the part, ARGV[8] '1' for a copy of that unit alone, which the segment
-- keeps, ARGV[9] how many copies there may be. {'segment', id, lo, hi, cur, fence} | {'moved'} | {'absent'}
if not present() then return {'absent'} end
local worker, from, id, at = ARGV[3], position(ARGV[4], 'from'), ARGV[5], whole(ARGV[7], 'the first unit')
local end_known, most = whole(ARGV[6], 'the end'), whole(ARGV[9], 'the number of copies')
heartbeat(worker)
local s = find_segment(id)
if not s or s.state ~= 'running' or s.hi ~= end_known then return {'moved'} end
if ARGV[8] ~= '1' then
  if at <= s.cur or at >= s.hi then return {'moved'} end
  return grant(split_at(id, s, at), worker, from)
end
if at ~= s.cur or s.copy or meta_number('copies', '0') >= most then return {'moved'} end
redis.call('HINCRBY', key('meta'), 'copies', 1)
local copy = add_segment(at, at + 1, s.order, id)
redis.call('HSET', seg(copy), 'copy_of', id)
redis.call('HSET', seg(id), 'copy', copy)
event('copy', id, at, worker, 'copy', copy)
return grant(copy, worker, from)
