-- ARGV[3] ms after which a silent worker is forgotten, ARGV[4] '' or where the last call stopped.
-- {'ok', segments handed back} | {'more', segments handed back, where it stopped}: call it again | {'absent'}
if not present() then return {'absent'} end
local count = reap_expired()
if count == MOST_CHANGED then return {'more', count, ARGV[4]} end

-- Every agent asks every few seconds. What changes in a lease at the soonest, the first to ask in each looks after.
local silent_before = string.format('%.0f', now_ms() - whole(ARGV[3], 'the silence'))
local at = 0
if ARGV[4] == '' then
  local meta = redis.call('HMGET', key('meta'), 'swept', 'lists_running')
  if math.abs(now_ms() - whole(meta[1] or '0', 'meta: swept')) < lease_ms() then return {'ok', count} end
  redis.call('HSET', key('meta'), 'swept', string.format('%.0f', now_ms()))
  keep_for_a_day()
  keep_some_segments()
  if meta[2] ~= '1' then list_running(meta[2]) end
else
  at = whole(ARGV[4], 'the place in the list')
end

local ids, changed = redis.call('ZRANGE', key('running'), at, at + MOST - 1), 0
for _, id in ipairs(ids) do
  if changed == MOST_CHANGED then return {'more', count, at} end
  local s = segment_in('running', id)
  if s.state ~= 'running' then
    remove_running(id)
  elseif not redis.call('ZSCORE', key('lease'), id) then
    hand_back(id, s, 'reap', 'it ran without a lease', false)
    count, changed = count + 1, changed + 1
  else
    at = at + 1
  end
end
if #ids == MOST then return {'more', count, at} end
local silent = redis.call('ZRANGEBYSCORE', key('workers'), '-inf', silent_before, 'LIMIT', 0, MOST_CHANGED)
for _, worker in ipairs(silent) do forget_worker(worker) end
if #silent == MOST_CHANGED then return {'more', count, at} end
return {'ok', count}
