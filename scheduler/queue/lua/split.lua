-- ARGV[3] segment, ARGV[4] the first unit of the tail. {'ok', id of the tail} | {'none'} | {'absent'}
if not present() then return {'absent'} end
local s = redis.call('HMGET', seg(ARGV[3]), 'state', 'cur', 'hi')
if s[1] ~= 'ready' and s[1] ~= 'running' then return {'none'} end
local at = tonumber(ARGV[4])
if at <= tonumber(s[2]) or at >= tonumber(s[3]) then return {'none'} end
return {'ok', split_at(ARGV[3], at)}
