-- ARGV[3] ms after which a silent worker is forgotten. {'ok', segments handed back} | {'absent'}
if not present() then return {'absent'} end
local count = reap_expired()

-- Every agent asks every few seconds. What changes in a lease at the soonest, the first to ask in each looks after.
local meta = redis.call('HMGET', key('meta'), 'swept', 'lists_running')
if math.abs(now_ms() - tonumber(meta[1] or '0')) < tonumber(ARGV[2]) then return {'ok', count} end
redis.call('HSET', key('meta'), 'swept', string.format('%.0f', now_ms()))
keep_for_a_day()
if not meta[2] then list_running() end
for _, id in ipairs(redis.call('ZRANGE', key('running'), 0, -1)) do
  if redis.call('HGET', seg(id), 'state') ~= 'running' then
    remove_running(id)
  elseif not redis.call('ZSCORE', key('lease'), id) then
    hand_back(id, 'reap', 'it ran without a lease', false)
    count = count + 1
  end
end
local silent = redis.call('ZRANGEBYSCORE', key('workers'), '-inf', string.format('%.0f', now_ms() - tonumber(ARGV[3])))
for _, worker in ipairs(silent) do forget_worker(worker) end
return {'ok', count}
