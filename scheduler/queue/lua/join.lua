-- ARGV[3] worker, then its fields and values. {'ok'} | {'absent'}
if not present() then return {'absent'} end
local worker = ARGV[3]
local new = redis.call('HEXISTS', key('worker:' .. worker), 'pid') == 0
for i = 4, #ARGV - 1, 2 do redis.call('HSET', key('worker:' .. worker), ARGV[i], ARGV[i + 1]) end
heartbeat(worker)
if new then event('join', '', '', worker) end
return {'ok'}
