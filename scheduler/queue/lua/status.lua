-- Some of the segments and workers from number ARGV[3] on. {'ok', units, done, segments, workers, the next number or ''};
-- a segment is {id, lo, hi, cur, state, owner, tries, error, parent, ms left of the lease}, a worker {id, node, gpu, job,
-- task, pid, units, segment, ms since it was last heard of}. {'absent'}
if redis.call('HEXISTS', key('meta'), 'units') == 0 then return {'absent'} end
local now, segments, workers, first = now_ms(), {}, {}, whole(ARGV[3], 'the first number')
local count = meta_number('next')
for number = first, math.min(count, first + MOST) - 1 do
  local id = string.format('%d', number)
  local s = segment_in('meta: next', id)
  local texts = redis.call('HMGET', seg(id), 'error', 'parent')
  local lease = redis.call('ZSCORE', key('lease'), id)
  segments[#segments + 1] = {id, s.lo, s.hi, s.cur, s.state, s.owner, s.tries, texts[1], texts[2],
                             lease and string.format('%.0f', tonumber(lease) - now) or '0'}
end
for _, id in ipairs(redis.call('ZRANGE', key('workers'), first, first + MOST - 1)) do
  local w = redis.call('HMGET', key('worker:' .. id), 'node', 'gpu', 'job', 'task', 'pid', 'units', 'segment')
  local seen = redis.call('ZSCORE', key('workers'), id)
  workers[#workers + 1] = {id, w[1], w[2], w[3], w[4], w[5], w[6], w[7], string.format('%.0f', now - tonumber(seen))}
end
local more = #segments == MOST or #workers == MOST
return {'ok', meta_number('units'), done_count(), segments, workers, more and first + MOST or ''}
