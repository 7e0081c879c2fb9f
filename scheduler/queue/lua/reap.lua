-- ARGV[3] ms after which a silent worker is forgotten. {'ok', segments handed back} | {'absent'}
if not present() then return {'absent'} end
local count = reap_expired()
keep_for_a_day()
local last = tonumber(redis.call('HGET', key('meta'), 'next'))
for number = 0, last - 1 do
  local id = string.format('%d', number)
  if redis.call('HGET', seg(id), 'state') == 'running' and not redis.call('ZSCORE', key('lease'), id) then
    hand_back(id, 'reap', 'it ran without a lease', false)
    count = count + 1
  end
end
local silent = redis.call('ZRANGEBYSCORE', key('workers'), '-inf', string.format('%.0f', now_ms() - tonumber(ARGV[3])))
for _, worker in ipairs(silent) do forget_worker(worker) end
return {'ok', count}
