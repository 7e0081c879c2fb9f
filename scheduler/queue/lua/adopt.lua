-- The queue survived a restart of its server, maybe as it was a while ago: units published since are done, and
-- leases get their full length again, for nobody could renew them meanwhile. Tokens of the new incarnation cannot
-- meet one that was handed out after the snapshot. ARGV[3] incarnation, then pairs as for build.
-- {'ok'} | {'absent'}
if redis.call('HEXISTS', key('meta'), 'units') == 0 then return {'absent'} end
redis.call('HSET', key('meta'), 'server', ARGV[1], 'incarnation', ARGV[3])
for i = 4, #ARGV, 2 do redis.call('HSETNX', key('done'), ARGV[i], ARGV[i + 1]) end
list_running()
local last = tonumber(redis.call('HGET', key('meta'), 'next'))
for number = 0, last - 1 do
  local id = string.format('%d', number)
  local s = redis.call('HMGET', seg(id), 'state', 'cur', 'hi')
  if s[1] and s[1] ~= 'done' then
    local cur, hi = tonumber(s[2]), tonumber(s[3])
    while cur < hi and redis.call('HEXISTS', key('done'), cur) == 1 do cur = cur + 1 end
    redis.call('HSET', seg(id), 'cur', cur)
    if cur >= hi then
      finish(id)
    elseif s[1] == 'running' then
      redis.call('ZADD', key('lease'), lease_until(), id)
    end
  end
end
event('build', '', '', '', 'incarnation', ARGV[3])
return {'ok'}
