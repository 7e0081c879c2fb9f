-- {'ok', units, done, segments, workers}; a segment is {id, lo, hi, cur, state, owner, tries, error, parent, ms left
-- of the lease}, a worker {id, node, gpu, job, task, pid, units, segment, ms since it was last heard of}. {'absent'}
local meta = redis.call('HMGET', key('meta'), 'units', 'next')
if not meta[1] then return {'absent'} end
local now, segments, workers = now_ms(), {}, {}
for number = 0, tonumber(meta[2]) - 1 do
  local id = string.format('%d', number)
  local s = redis.call('HMGET', seg(id), 'lo', 'hi', 'cur', 'state', 'owner', 'tries', 'error', 'parent')
  local lease = redis.call('ZSCORE', key('lease'), id)
  segments[#segments + 1] = {id, s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8],
                             lease and string.format('%.0f', tonumber(lease) - now) or '0'}
end
for _, id in ipairs(redis.call('ZRANGE', key('workers'), 0, -1)) do
  local w = redis.call('HMGET', key('worker:' .. id), 'node', 'gpu', 'job', 'task', 'pid', 'units', 'segment')
  local seen = redis.call('ZSCORE', key('workers'), id)
  workers[#workers + 1] = {id, w[1], w[2], w[3], w[4], w[5], w[6], w[7], string.format('%.0f', now - tonumber(seen))}
end
return {'ok', meta[1], (done_counts()), segments, workers}
